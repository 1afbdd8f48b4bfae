"""What the shelves declare is complete, consistent and cheap to read."""

import ast
import re
import subprocess
import sys

import pytest

from icl_core import discovery
from icl_core.errors import InputError
from icl_core.layout import Need
from icl_core.measuring.paper import MINUTES_OF
from icl_core.measuring.results import Results
from icl_core.showing import paper
from icl_core.showing.item import read_items
from icl_core.showing.save import show
from tests.fake_results import CONFIG, EXPERIMENTS
from tests.showing.conftest import ITEMS
from workflow.lib.configuration import resolve

# What is run at the paper's scale alone.
OF_THE_PAPERS_SCALE = resolve({**CONFIG, "scale": "paper"}).experiments
NEW = """
ITEMS = [{"title": "New", "caption": "Newly made.", "needs": ["metrics"], "experiments": "all"}]
"""


def test_every_table_and_figure_of_the_paper_is_made():
    wanted = {f"table-{number:02d}" for number in paper.TABLES}
    wanted |= {f"figure-{number:02d}" for number in paper.FIGURES}
    made = {item.id for item in read_items() if item.number is not None and not item.suffix}
    assert made == wanted


def test_items_come_in_the_papers_order():
    found = [item.id for item in read_items()]
    assert len(set(found)) == len(found)
    assert found[:6] == [f"table-{n}" for n in ("01", "01b", "01c", "01d", "02", "02b")]
    assert found == sorted(found, key=lambda name: (not name.startswith("table"), name))


@pytest.mark.parametrize("item", ITEMS.values(), ids=list(ITEMS))
def test_item(item):
    assert callable(item.load())
    assert set(item.experiments) <= {*EXPERIMENTS, *OF_THE_PAPERS_SCALE}
    assert all(re.fullmatch(rf"{item.kind}s/{item.name}\.\w+", path) for path in item.outputs)
    assert item.caption.endswith(".") and not re.search(r"\*\*|``|  ", item.caption)
    assert not item.caption.startswith(("Figure", "Table"))  # the page writes the label


def test_the_papers_eight_environments_have_one_home():
    for name in ("table-07-settings-common", "table-11b-settings-icl-plus"):
        assert ITEMS[name].experiments == tuple(MINUTES_OF)
    times = ITEMS["table-12-training-times"].experiments
    assert times[:8] == tuple(MINUTES_OF) and times[8:] == tuple(
        f"{name}-all-iterations" for name in times[:4]
    )


def test_a_claim_or_caption_finds_an_item_by_its_label():
    by_label = {item.label: item.id for item in read_items()}
    assert by_label["Table 1b"] == "table-01b" and by_label["Figure 16"] == "figure-16"


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Figures that are a folder of this test's; the tables stay as they are."""
    folder = tmp_path / "figures"
    folder.mkdir()
    own, source = discovery._own, discovery.source
    monkeypatch.syspath_prepend(tmp_path)

    def found(name):
        if name != discovery.FIGURES:
            return own(name)
        return {p.stem.replace("_", "-"): f"figures.{p.stem}" for p in folder.glob("*.py")}

    def file(module):
        return folder / f"{module.split('.')[1]}.py" if module[:8] == "figures." else source(module)

    monkeypatch.setattr(discovery, "_own", found)
    monkeypatch.setattr(discovery, "source", file)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "figures"]:
        del sys.modules[name]


def figures():
    return [item for item in read_items() if item.kind == "figure"]


def test_one_file_is_a_new_figure(shelf, tmp_path):
    drawing = (
        "from matplotlib.figure import Figure\n"
        "def draw(results, experiments):\n"
        "    figure = Figure()\n"
        "    figure.text(0.5, 0.5, ' '.join(experiments))\n"
        "    return figure\n"
    )
    (shelf / "my_figure.py").write_text(NEW + drawing)
    (item,) = figures()
    assert (item.name, item.id, item.label) == ("figure-my-figure",) * 2 + ("Figure my-figure",)
    assert item.outputs == ("figures/figure-my-figure.svg", "figures/figure-my-figure.png")
    assert item.needs == (Need("metrics", {}),)
    assert item.experiments_among(["b", "a"]) == ("b", "a")  # all that there are
    assert read_items()[-1] == item  # behind the paper's
    show(item, Results("quick", {"one": None, "two": None}, ()), [tmp_path / "a.svg"])
    assert (tmp_path / "a.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            NEW.replace('"title"', '"tilte"'),
            "my_figure.py: item 'my-figure': key 'tilte' is unknown",
        ),
        (NEW.replace('"caption": "Newly made.", ', ""), "key 'caption' is missing"),
        (NEW.replace('["metrics"]', '["metricks"]'), "'metricks' is no kind of file"),
        (NEW.replace('["metrics"]', '"metrics"'), "expected 'needs' to be a list"),
        (NEW.replace('"all"', '"gridworld-a"'), "expected 'experiments' to be a list"),
        (NEW.replace('"all"', "[]"), "expected the names of experiments or 'all', found none"),
        ("def draw(results, experiments): ...", "expected ITEMS, a list of mappings"),
        ("NAME = 'a'\nITEMS = [{'title': NAME}]", "expected ITEMS to be written out"),
        (NEW.replace("}]", ', "name": "two"}, {"title": "", "name": "two"}]'), "is missing"),
        (NEW + "ITEMS += ITEMS", None),
    ],
)
def test_a_wrong_declaration_is_one_sentence(shelf, text, message):
    (shelf / "my_figure.py").write_text(text)
    if message is None:  # only the first assignment is read
        assert len(figures()) == 1
        return
    with pytest.raises(InputError, match=re.escape(message)) as error:
        read_items()
    assert "my_figure.py" in str(error.value) and "\n" not in str(error.value)


def test_two_items_of_one_name_are_refused(shelf):
    (shelf / "one.py").write_text(NEW.replace('"title"', '"name": "same", "title"'))
    (shelf / "two.py").write_text(NEW.replace('"title"', '"name": "same", "title"'))
    with pytest.raises(InputError, match=r"two\.py: figure-same is declared here and in .*one\.py"):
        read_items()


def test_a_missing_function_is_one_sentence(shelf):
    (shelf / "my_figure.py").write_text(NEW)
    with pytest.raises(InputError, match="expected a function draw that draws figure-my-figure"):
        figures()[0].load()


def test_families_do_not_import_each_other():
    """An edited figure redraws its own family and no other."""
    for shelf in (discovery.FIGURES, discovery.TABLES):
        for name in discovery.names(shelf):
            tree = discovery.tree_of(discovery.source(discovery.module_name(shelf, name)))
            modules = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
            assert not [m for m in modules if re.search(r"showing\.(figures|tables)", m)]


def test_items_are_cheap_to_read():
    code = (
        "import sys; from icl_core.showing.item import read_items; read_items();"
        "heavy = {'matplotlib', 'torch', 'numpy', 'pyarrow', 'gymnasium', 'ot'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
