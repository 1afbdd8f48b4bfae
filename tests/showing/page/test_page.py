"""The page holds every figure, the tables' own numbers and the verdicts, and asks for nothing."""

import base64
import csv
import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from icl_core.artifacts import write_record
from icl_core.errors import InputError
from icl_core.showing.item import read_items
from icl_core.showing.page import make
from icl_core.showing.page.make import make_page
from icl_core.showing.page.matrices import matrix_of, written
from icl_core.showing.page.opening import PICTURE
from icl_core.showing.page.origin import origin
from tests.showing.page.made_up import RESULTS, SETTINGS, make_results, provenance

ITEMS = read_items()
TITLES = {"icl": "ICL", "highd": "HighD", "gridworld-a": "Gridworld (A)"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Without the flags after the first three the browser itself looks for Google's hosts.
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--virtual-time-budget=10000"),
)


class Elements(HTMLParser):
    """Every start tag with its attributes, and the id of the section that it stands in."""

    def __init__(self, text):
        super().__init__()
        self.found, self.section = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "section":
            self.section = given.get("id", "")
        self.found.append((tag, given, self.section))

    def all(self, tag, section=None):
        return [a for t, a, s in self.found if t == tag and section in (None, s)]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write(root, make_results(root))
    return root


def write(root, shown, scale="quick", simulated=("highd",), output="report.html"):
    make_page(root / output, scale, shown, root, TITLES, list(simulated))
    return (root / output).read_text()


@pytest.fixture(scope="module")
def page(results):
    return (results / "report.html").read_text()


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page)


def test_it_asks_nobody_for_anything(page, elements):
    addresses = [
        given[key] for _, given, _ in elements.found for key in ("src", "href") if key in given
    ]
    assert addresses
    assert all(address.startswith(("#", "data:")) for address in addresses)
    assert not elements.all("script")
    assert "url(" not in page
    assert "@import" not in page


def test_its_policy_stands_before_all_that_it_rules(page):
    head = page.partition("</head>")[0]
    policy = head.index('http-equiv="Content-Security-Policy"')
    assert policy < min(head.index(tag) for tag in ("<style", "<link", "<title"))
    assert "content=\"default-src 'none'; " in head


def test_links_lead_somewhere(elements):
    ids = [given["id"] for _, given, _ in elements.found if "id" in given]
    assert len(ids) == len(set(ids))
    links = {given["href"][1:] for given in elements.all("a")}
    assert links <= set(ids)
    assert {item.id for item in ITEMS} <= links


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_item_has_caption_command_and_provenance(results, page, elements, item):
    start = page.index(f'<section class="item" id="{item.id}"')
    section = html.unescape(page[start : page.index("</section>", start)])
    assert f"{item.label}. {item.title}" in section
    assert item.caption in section
    target = f"results/quick/{item.outputs[0]}"
    assert f"snakemake --cores 1 --config scale=quick -- {target}<" in section
    assert f"<code>abababababab</code> results/quick/for-{item.id}" in section
    assert "code c0de" in section
    assert json.dumps({"of": item.name}, indent=1) in section
    if item.kind == "figure":
        (image,) = elements.all("img", item.id)
        kind, _, content = image["src"].partition(";base64,")
        assert kind == "data:image/svg+xml"
        assert base64.b64decode(content) == (results / item.outputs[0]).read_bytes()
        assert item.title in image["alt"]


@pytest.mark.parametrize(
    "item", [item for item in ITEMS if item.kind == "table"], ids=lambda item: item.name
)
def test_tables_hold_the_numbers_of_the_csv_files(results, elements, item):
    with (results / item.outputs[0]).open(newline="") as file:
        columns, *rows = csv.reader(file)
    if tuple(columns) == SETTINGS:  # what is the same as ours is not shown twice
        rows = [row[3:5] if row[5] == "no" else row[3:4] for row in rows]
    numbers = [text for row in rows for text in row if re.fullmatch(r"[-\d.e]+", text)]
    shown = [given["value"] for given in elements.all("data", item.id)]  # of a matrix: below it
    assert sorted(shown) == sorted(numbers)


def test_the_difference_is_ours_less_the_papers(results, page):
    (path,) = [results / item.outputs[0] for item in ITEMS if item.id == "table-01"]
    with path.open(newline="") as file:
        row = next(csv.DictReader(file))
    difference = float(row["mean"]) - float(row["paper_mean"])
    text = f"{difference:+.3f}" if abs(difference) < 10 else f"{difference:+.2f}"
    assert f">{text}</td>" in page
    assert "<td>ICL</td><td>Gridworld (A)</td>" in page  # names are written as titles
    assert "not run</td>" in page


def section(page, name):
    start = page.index(f'<section class="item" id="{name}"')
    return page[start : page.index("</section>", start)]


def words(part):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", part)).split())


def test_results_are_the_papers_matrices_and_bold_is_the_lowest_mean_of_ours(tmp_path):
    shown = make_results(tmp_path)
    (item,) = [one for one in shown if one.id == "table-01"]
    rows = [
        ("icrl", "last", "gridworld-a", "cmse", 0.2, 0.01, 5, 0.11, 0.02, ""),
        ("icrl", "last", "gridworld-b", "cmse", 0.3, 0.01, 5, 0.21, 0.04, ""),
        ("icl", "last", "gridworld-a", "cmse", 0.1, 0.01, 10, 0.08, 0.01, ""),  # bold
        ("icl", "last", "gridworld-b", "cmse", 0.02, 0.01, 9, 0.04, 0.01, 1),  # one seed has failed
        ("gail-constraint", "", "gridworld-b", "cmse", "", "", "", 0.25, 0.01, ""),
    ]
    files = [tmp_path / output for output in item.outputs]
    with files[0].open("w", newline="") as file:
        csv.writer(file).writerows([RESULTS, *rows])
    write_record(tmp_path / item.provenance, provenance(item), files)
    found = section(write(tmp_path, shown), "table-01")
    matrix, rest = found.split("</table>", 1)
    lines = [words(line) for line in matrix.split("<tr>")[1:]]
    assert lines[0] == "Gridworld (A) gridworld-b"
    assert (
        lines[1] == "icrl 5 seeds 0.200 ± 0.010 paper 0.11 ± 0.02 0.300 ± 0.010 paper 0.21 ± 0.04"
    )
    assert lines[2].startswith(
        "ICL 10 seeds 0.100 ± 0.010 paper 0.08 ± 0.01 0.020 ± 0.010 (1 of 10 seeds"
    )
    assert lines[3] == "gail-constraint \N{EN DASH} not run paper 0.25 ± 0.01"
    assert re.findall(r'"ours best">(.*?)<', matrix) == ["0.100 ± 0.010"]
    assert words(rest).count("Bold: the lowest mean of ours in a column.") == 1


def test_a_matrix_has_a_line_for_each_end_of_a_run():
    def row(method, at, selection, mean):
        ours = {"mean": mean, "std": mean, "seeds": mean and "5", "failed": ""}
        paper = {"paper_mean": "0.1", "paper_std": "0.0"}
        return {"method": method, "experiment": at, "selection": selection, **ours, **paper}

    rows = [
        row("icrl", "a", "", ""),  # not run here
        row("icrl", "b", "last", "0.4"),
        row("icl", "a", "last", "0.3"),
        row("icl", "a", "best", "0.2"),
        row("icl", "b", "last", "0.5"),
        row("new", "a", "", ""),  # nor anywhere
    ]
    found = matrix_of(rows, list(rows[0]), {"icl": "ICL"})
    assert found.head == ("a", "b")
    assert [line[:2] for line in found.rows] == [
        ("icrl", "5 seeds"),
        ("ICL", "5 seeds"),
        ("ICL, best by NAD", "5 seeds"),
        ("new", ""),
    ]
    places = [[place.ours for place in places] for *_, places in found.rows]
    dash = "\N{EN DASH}"
    assert places[:2] == [["not run", "0.400 ± 0.400"], ["0.300 ± 0.300", "0.500 ± 0.500"]]
    assert places[2:] == [["0.200 ± 0.200", dash], ["not run", dash]]
    best = [[place.best for place in places] for *_, places in found.rows]
    assert best == [[False, True], [False, False], [True, False], [False, False]]
    nameless = [
        {name: one[name] for name in one if name not in ("method", "selection")} for one in rows
    ]
    assert matrix_of(nameless, list(nameless[0]), {}) is None


def test_times_stand_as_a_matrix_too(page):
    found = section(page, "table-12")
    assert '<table class="matrix">' in found and "Bold" not in found
    assert "matrix" not in section(page, "table-07")


def test_other_tables_stand_as_their_markdown_has_them(tmp_path):
    """Their files for machines have a row for each number, which nobody reads."""
    shown = make_results(tmp_path)
    (item,) = [one for one in shown if one.id == "table-13"]
    files = [tmp_path / output for output in item.outputs]
    lines = ["# T", "", "| Environment | From | A1 |", "| --- | --- | ---: |"]
    lines += ["| Gridworld (A) | paper | 0.03 |", "| Gridworld (A) | ours | **0.01** |", "", "N."]
    files[1].write_text("\n".join(lines))
    write_record(tmp_path / item.provenance, provenance(item), files)
    found = section(write(tmp_path, shown), "table-13")
    table, rest = found.split("</table>", 1)
    assert [words(line) for line in table.split("<tr>")[1:]] == [
        "Environment From A1",
        "Gridworld (A) paper 0.03",
        "Gridworld (A) ours 0.01",
    ]
    assert table.count('class="again"') == 1 and table.count(' class="n"') == 3
    assert "Every number, and the difference to the paper's" in html.unescape(rest)
    files[1].write_text("nothing but words")
    assert written(files[1], RESULTS) is None


def test_settings_say_which_of_them_the_paper_does_not_list(tmp_path):
    shown = make_results(tmp_path)
    (item,) = [one for one in shown if one.id == "table-10"]
    files = [tmp_path / output for output in item.outputs]
    rows = [("a.own_key", "k", "gridworld-a", 1, "", ""), ("rate", "k", "gridworld-a", 1, 2, "no")]
    with files[0].open("w", newline="") as file:
        csv.writer(file).writerows([SETTINGS, *rows])
    write_record(tmp_path / item.provenance, provenance(item), files)
    found = section(write(tmp_path, shown), "table-10")
    lines = [words(line) for line in found.split("</table>")[0].split("<tr>")[1:]]
    assert lines[1:] == ["rate 1 (paper: 2 )", "not in the paper:", "a. own_ key 1"]
    assert "a.<wbr>own_<wbr>key" in found


def test_it_says_its_code_licence_and_what_to_cite(page, tmp_path):
    end = words(page[page.index('id="conditions"') :])
    assert "Licence: MIT. Please cite: Ashish Gaurav, Kasra Rezaee" in end
    root = Path(__file__).parents[3]
    assert f'license = "{origin().licence}"' in (root / "pyproject.toml").read_text()
    cited = " ".join(origin().cited)
    citation = yaml.safe_load((root / "CITATION.cff").read_text())
    (paper,) = citation["references"]
    assert citation["title"] in cited and paper["title"] in cited
    assert all(f"{a['given-names']} {a['family-names']}" in cited for a in paper["authors"])
    commit = origin().commit
    assert (f"commit {commit}" if commit else "Commands") in end
    assert origin(tmp_path)[:2] == ("", False)  # no history


def test_claims_have_their_verdicts_and_parts(page):
    counts = re.findall(r"<b>(\d+)</b><span>(.*?)</span>", page)
    assert counts == [("1", "reproduced"), ("1", "not reproduced"), ("1", "not run")]
    assert "first &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "+1.25 [+0.75, +1.75]" in page
    assert "bad part; all 2 parts" in page
    assert "By the paper's own deviations: unclear." in page
    assert "Notes of &lt;b&gt;it&lt;/b&gt;." in page


def test_it_says_how_much_its_numbers_mean(results, page):
    assert "<strong>Scale quick</strong> is a sketch" in page
    assert "licensed recordings of\nHighD." in page
    marked = [item for item in ITEMS if "highd" in item.experiments and not item.shows_settings]
    assert PICTURE not in [item.id for item in marked]
    assert page.count('<span class="tag">simulated recordings</span>') == len(marked)
    real = write(results, ITEMS, scale="paper", simulated=(), output="paper.html")
    assert 'class="banner"' not in real
    assert '<span class="tag">' not in real


def test_what_was_not_made_is_named(results):
    some = [item for item in ITEMS if item.id != "figure-16"]
    text = write(results, some, output="less.html")
    assert "Figure 16 (constraints, Gridworld (A))" in text
    assert 'id="figure-16"' not in text


def test_equal_files_give_equal_bytes(results, page):
    assert write(results, reversed(ITEMS), output="again.html") == page


def test_a_very_large_drawing_is_shown_as_pixels(tmp_path, monkeypatch):
    (tmp_path / "a.svg").write_text("<svg/>")
    (tmp_path / "a.png").write_bytes(b"pixels")
    pair = (tmp_path / "a.svg", tmp_path / "a.png")
    assert make.data_address(*pair).startswith("data:image/svg+xml;")
    monkeypatch.setattr(make, "LARGE", 3)
    assert make.data_address(*pair).startswith("data:image/png;")


def test_a_missing_provenance_is_one_line(results):
    first = ITEMS[0]
    path = results / first.provenance
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(InputError, match=f"{first.name}.json: expected a file, found nothing"):
        write(results, ITEMS, output="none.html")
    path.write_bytes(content)


@pytest.mark.parametrize("item", [ITEMS[0], ITEMS[-1]], ids=lambda item: item.kind)
def test_a_file_that_was_changed_is_not_shown(results, item):
    """A flipped bit in a table would be another number, in a picture another curve."""
    for name in (*item.outputs, item.provenance):
        path = results / name
        content = path.read_bytes()
        path.write_bytes(content[:3] + bytes([content[3] ^ 1]) + content[4:])
        with pytest.raises(InputError, match=rf"{path.name}: expected (the content|a complete)"):
            write(results, ITEMS, output="none.html")
        path.write_bytes(content)


# Written into a copy of the page: what a reader's browser would make of it.
PROBE = """<script>
const problems = [];
const note = event => problems.push(String(event.message || event.target.outerHTML));
addEventListener("error", note, true);
addEventListener("securitypolicyviolation", event => problems.push(event.violatedDirective));
addEventListener("load", () => {
  const link = document.querySelector('a[href="#CLICKED"]');
  if (link) link.click();
  setTimeout(look, 200);
});
const look = () => {
  const images = [...document.images];
  const asked = performance.getEntriesByType("resource").map(entry => entry.name);
  parent.postMessage(JSON.stringify({
    problems, asked: asked.filter(name => !name.startsWith("data:")),
    drawn: images.filter(image => image.complete && image.naturalWidth > 0).length,
    wide: document.documentElement.scrollWidth > innerWidth, width: innerWidth,
    claims: [...document.querySelectorAll("tr.claim")].filter(row => row.checkVisibility())
      .map(row => row.id),
    full: [...document.querySelectorAll(".sheet")].filter(
      sheet => getComputedStyle(sheet).position == "fixed").map(sheet => sheet.id),
    folded: !document.querySelector("details.fold")?.open,
  }), "*");
};
</script>"""
# No window of a browser is as narrow as a telephone; a frame can be.
FRAME = """<script>
addEventListener("message", event => { document.documentElement.dataset.probe = event.data; });
</script><iframe src="page.html" style="width: WIDTHpx; height: 844px; border: 0"></iframe>"""


def browsed(text, folder, width=1400, clicked=""):
    """What a browser found in a page, and what it complained of; after a click on a link."""
    copy, frame = folder / "page.html", folder / "frame.html"
    copy.write_text(text.replace("<head>", f"<head>{PROBE.replace('CLICKED', clicked)}", 1))
    frame.write_text(FRAME.replace("WIDTH", str(width)))
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [CHROMIUM, *FLAGS, profile, "--window-size=1500,900", "--dump-dom", frame.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    probe = re.search(r'data-probe="(.*?)"', done.stdout)[1]
    return json.loads(html.unescape(probe)), [s for s in done.stderr.splitlines() if "CONSOLE" in s]


in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install chromium")


@in_a_browser
@pytest.mark.parametrize("width", [1400, 390])
def test_a_browser_shows_it(page, tmp_path, width):
    found, complaints = browsed(page, tmp_path, width)
    assert complaints == [] and found["width"] == width
    assert found["problems"] == found["asked"] == []
    assert found["drawn"] == sum(item.kind == "figure" for item in ITEMS) + 1
    assert not found["wide"]


@in_a_browser
def test_a_click_on_a_verdict_shows_its_claims_alone(page, tmp_path):
    found, complaints = browsed(page, tmp_path)
    assert found["folded"]
    found, complaints = browsed(page, tmp_path, clicked="only-not-reproduced")
    assert found["claims"] == ["claim-second"]
    assert not found["folded"] and complaints == []
    found, _ = browsed(page, tmp_path, clicked="every-claim")
    assert found["claims"] == ["claim-first", "claim-second", "claim-third"]


@in_a_browser
def test_a_click_on_a_figure_opens_it_at_full_size(page, tmp_path):
    found, complaints = browsed(page, tmp_path, 390, clicked="full-figure-16")
    assert found["full"] == ["full-figure-16"] and complaints == []
    assert browsed(page, tmp_path)[0]["full"] == []


@in_a_browser
def test_a_browser_runs_nothing_and_asks_nobody(page, tmp_path):
    """Whatever would slip into the page."""
    head = page.partition("<body")[0]
    hostile = """<body onload="document.title = 'ran'"><script>document.title = 'ran'</script>
    <img src="http://127.0.0.1:9/x.png"><iframe src="data:text/html,x"></iframe>
    <link rel="stylesheet" href="http://127.0.0.1:9/x.css"><base href="http://127.0.0.1:9/">"""
    found, _ = browsed(head + hostile, tmp_path)
    refused = {one for one in found["problems"] if one.endswith(("-src", "-elem", "-attr", "-uri"))}
    assert refused == {
        "script-src-elem",
        "script-src-attr",
        "img-src",
        "frame-src",
        "style-src-elem",
        "base-uri",
    }
