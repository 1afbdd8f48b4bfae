"""The page opens with the verdicts, ours beside the paper's and one figure."""

import base64
import csv
import html
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from icl_core.artifacts import write_record, write_table
from icl_core.measuring.claims.claim import read_claims
from icl_core.measuring.claims.evaluate import CLAIMS_SCHEMA
from icl_core.measuring.paper import PAPER
from icl_core.showing.item import find_item, read_items
from icl_core.showing.page.make import make_page
from icl_core.showing.page.opening import PICTURE, TIMES, read_comparison, training_took
from icl_core.showing.page.verdicts import TOPICS, by_topic
from icl_core.showing.results_table import COLUMNS
from icl_core.showing.tables.times_and_bounds import TIME_COLUMNS
from tests.showing.page.made_up import claims, make_results, provenance

CLAIMS = Path(__file__).parents[3] / "docs/claims.yaml"
ITEMS = read_items()
NAMES = {"cmse": "table-01-cmse", "nad": "table-02-nad"}
TITLES = {"icl": "ICL", "icrl": "ICRL", "gridworld-a": "Gridworld (A)"}
# By metric, then (method, experiment): mean and deviation. GAIL-Constraint was not run.
OURS = {
    "cmse": {
        ("icrl", "gridworld-a"): (0.0394, 0.01),
        ("icl", "gridworld-a"): (0.0386, 0.0204),
        ("icl", "gridworld-b"): (0.5, 0.0),
        ("icrl", "cartpole-mr"): (0.2, 0.1),
        ("icl", "cartpole-mr"): (0.3, 0.1),
    },
    "nad": {
        ("icrl", "gridworld-a"): (12.5, 1.0),
        ("icl", "gridworld-a"): (float("nan"), float("nan")),
    },
}


def write_rows(root, name, columns, rows, **stated):
    item = find_item(name)
    path, *others = [root / output for output in item.outputs]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    write_record(root / item.provenance, provenance(item) | stated, [path, *others])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Everything that the page reads, with the numbers of OURS and two seeds."""
    root = tmp_path_factory.mktemp("opening")
    make_results(root)
    for metric, name in NAMES.items():
        rows = [(m, "last", e, metric, *value, 2, 0, 0) for (m, e), value in OURS[metric].items()]
        rows += [(m, "best", e, metric, 0.0, 0.0, 2, "", "") for m, e in OURS[metric]]
        rows.append(("gail-constraint", "", "gridworld-a", metric, "", "", "", 0, 0))
        write_rows(root, name, COLUMNS, rows)
    times = [("gridworld-a", "icl", 2, 600, 700, "", ""), ("ant", "icl", 2, 300, 400, "", "")]
    jobs = ("icl_select/ant/icl/seeds-1-2", "icl_adjust/ant/icl/seeds-1-2/iteration-01")
    inputs = {f"results/quick/benchmarks/{job}.tsv": "ab" for job in jobs}
    write_rows(root, TIMES, TIME_COLUMNS, times, inputs=inputs)
    return root


def made_page(results, scale="quick", items=ITEMS):
    output = results / f"{scale}-{len(items)}.html"
    make_page(output, scale, items, results, TITLES, [])
    return output.read_text()


@pytest.fixture(scope="module")
def quick(results):
    return made_page(results)


@pytest.fixture(scope="module")
def paper(results):
    return made_page(results, "paper")


@pytest.fixture
def copy(results, tmp_path):
    """The same, to be changed."""
    return Path(shutil.copytree(results, tmp_path / "copy"))


def first_look(page):
    """The first section."""
    start = page.index("<section")
    return page[start : page.index("</section>", start)]


def row(page, metric, method):
    """The cells of a method: the paper's and ours as they are read, and the marks of both."""
    block = first_look(page).split(f"<b>{metric}</b>")[1].split("</tbody>")[0]
    cells = block.split(f'<th scope="row">{method}</th>')[1].split("</tr>")[0].split("</td>")[:-1]
    words = [re.sub(r"<[^>]*>", " ", cell).split() for cell in cells]
    marks = [re.findall(r'"(theirs|ours) best"', cell) for cell in cells]
    return words, marks


def test_it_opens_with_verdicts_and_the_first_look(quick, paper):
    parts = ("summary", "look", "tables", "claims", "figures")
    for page in (quick, paper):
        places = [page.index(f'id="{part}"') for part in parts]
        assert places == sorted(places)
        assert 'id="look"' in first_look(page)
        assert places[0] < page.index('class="counts"') < places[1]
        assert "claim-" not in page[: places[1]]


def test_the_papers_values_stand_beside_ours(quick):
    assert row(quick, "CMSE", "ICL") == (
        [
            ["0.08", "0.039", "±", "0.020"],
            ["0.04", "0.500", "±", "0.000"],
            ["0.02", "0.300", "±", "0.100"],
            ["0.08", "–"],
        ],
        # The lowest of ours, where there is more than one, and the lowest of the paper's.
        [["theirs", "ours"], ["theirs"], ["theirs"], ["theirs"]],
    )
    assert row(quick, "CMSE", "ICRL")[1] == [[], [], ["ours"], []]
    assert row(quick, "NAD", "ICRL")[0][0] == ["1.73", "12.50", "±", "1.00"]
    assert row(quick, "NAD", "ICL")[0][0] == ["0.36", "undefined"]
    assert row(quick, "NAD", "gail-constraint")[0] == [
        [f"{PAPER['nad'][name, 'gail-constraint'][0]:.2f}", "–"]
        for name in find_item(NAMES["nad"]).experiments
    ]
    assert "Of ours: ICL in 1 of 8, ICRL in 1 of 8. Of the paper's: ICL in 8 of 8." in quick
    assert '<data value="0.0386">0.039</data>' in first_look(quick)


def test_a_method_of_our_own_has_a_row_without_the_papers_values(copy):
    name = NAMES["cmse"]
    with (copy / find_item(name).outputs[0]).open() as file:
        columns, *rows = csv.reader(file)
    rows.append(("mine", "last", "gridworld-a", "cmse", "0.01", "0.0", "2", "", ""))
    write_rows(copy, name, columns, rows)
    words, marks = row(made_page(copy), "CMSE", "mine")
    assert words == [["–", "0.010", "±", "0.000"], *[["–", "–"]] * 3]
    assert marks[0] == ["ours"]
    assert not read_comparison(copy, {name}).metrics[0].pair("gridworld-a", "icl").best


def test_one_figure_of_recovered_constraints_is_in_the_first_look(results, quick):
    item = next(item for item in ITEMS if item.id == PICTURE)
    assert item.category == "Recovered constraints"
    (shown,) = re.findall(r'<img src="data:image/svg\+xml;base64,(.*?)"', first_look(quick))
    assert base64.b64decode(shown) == (results / item.outputs[0]).read_bytes()


def test_one_line_says_what_verdicts_need(quick, paper):
    (line,) = re.findall(r"<p>(<strong>Scale quick.*?)</p>", quick, re.DOTALL)
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", "", line)).split())
    assert "Verdicts on the paper's claims need the paper's scale, 5 seeds where" in words
    assert words.endswith("this run has 2: make paper, or snakemake --cores 8 all.")
    assert quick.index(line) < quick.index('id="look"')
    assert "make paper" not in paper


def test_claims_are_folded_and_their_counts_lead_to_them(quick, paper):
    for page in (quick, paper):
        fold = page[page.index('<details class="fold"') : page.index('id="figures"')]
        assert all(f'id="claim-{name}"' in fold for name in ("first", "second", "third"))
        assert 'id="only-not-reproduced"' in fold
        assert page.count('class="counts"') == 1
        counts = page[page.index('class="counts"') :].partition("</ul>")[0]
        assert '<a href="#only-not-reproduced"' in counts
    assert "Fewer than 4 seeds decide nothing" in quick[: quick.index('id="look"')]
    assert 'class="claim not-reproduced" id="claim-second"' in paper


def summary(page):
    """The lines of the count by topic, without markup; only the paper's scale has them."""
    lines = re.findall(r"<li>(<b>.*?)</li>", page[: page.index('id="look"')], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", "", line).split()) for line in lines]


def test_the_papers_scale_opens_with_counts_of_the_claims(copy, quick, paper):
    synthetic = "Synthetic environments 1 of 3 reproduced, 1 not reproduced, 1 not run"
    assert summary(paper) == [synthetic]
    assert summary(quick) == []
    rows = claims().to_pylist()
    rows.append(rows[0] | {"id": "more", "source": "Appendix B.6, Table 5"})
    rows.append(rows[3] | {"id": "mine", "source": "my own"})
    write_table(copy / "claims.parquet", pa.Table.from_pylist(rows, schema=CLAIMS_SCHEMA), {})
    page = made_page(copy, "paper")
    robots, others = "Robots 1 of 1 reproduced", "Other claims 0 of 1 reproduced, 1 not run"
    assert summary(page) == [synthetic, robots, others]
    counts = re.findall(r"<b>(\d+)</b><span>(.*?)</span>", page[: page.index('id="look"')])
    assert counts == [("2", "reproduced"), ("1", "not reproduced"), ("2", "not run")]


def test_every_claim_of_the_paper_has_a_topic():
    stated = [SimpleNamespace(source=one.source, verdict="not run") for one in read_claims(CLAIMS)]
    found = by_topic(stated)
    assert list(found) == list(TOPICS)
    assert sum(found[topic]["not run"] for topic in TOPICS) == len(stated)


@pytest.mark.parametrize("scale", ["quick", "smoke", "paper", "mine"])
def test_what_was_not_made_is_a_dash(results, scale):
    """Though its files still lie there from another run."""
    gone = {*NAMES.values(), TIMES}
    some = [item for item in ITEMS if item.name not in gone and item.id != PICTURE]
    page = made_page(results, scale, some)
    for metric in ("CMSE", "NAD"):
        words, marks = row(page, metric, "ICL")
        assert [ours for _, ours in words] == ["–"] * 4
        assert marks == [["theirs"]] * 4
    assert "Of ours" not in page
    assert "<img" not in first_look(page)
    assert "CPU time" not in page[: page.index('id="look"')]
    assert "this run has" not in page


def test_it_says_what_training_took(results, quick):
    assert "2 training runs took 30 min of CPU time in 2 jobs (" in quick
    assert training_took(results, {TIMES}, []) == "2 training runs took 30 min of CPU time"
    assert training_took(results, set(), []) == ""
