"""Settings: what is wrong is one sentence, what is right comes back as it was."""

import doctest
import json
import math
from dataclasses import FrozenInstanceError, dataclass, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icl_core import layout, settings, settings_schema
from icl_core.errors import InputError
from icl_core.settings import (
    build,
    check,
    check_keys,
    defaults,
    expected,
    join,
    meaning,
    merge,
    plain,
    section,
    setting,
    used,
)
from icl_core.settings_schema import described, json_schema


@dataclass(frozen=True)
class Inner:
    """A section."""

    rate: float = setting(0.5, "step size", above=0, below=1)
    hidden: tuple[int, ...] = setting((64, 64), "layers", at_least=1)


@dataclass(frozen=True)
class Outer:
    """Settings of every kind."""

    epochs: int = setting(20, "passes over the data", at_least=1, at_most=99)
    file: str | None = setting(None, "a file")
    tolerance: float | str | None = setting(
        "demonstrations", "epsilon", at_least=0, choices=("demonstrations",)
    )
    members: int = setting(2, "policies", choices=(1, 2))
    truncate: bool = setting(True, "whether")
    kind: str = setting("first", "which", choices=("first", "second"), selects=True)
    names: tuple[str, ...] = setting(("a",), "names", each_once=True)
    sizes: dict[str, tuple[int, ...]] = setting({}, "layers by name", at_least=1)
    first: Inner = section(Inner, "the first")
    second: Inner = section(lambda: Inner(rate=0.1), "the second")


def refused(given_, kind=Outer, where=""):
    """The one sentence that refuses it."""
    with pytest.raises(InputError) as error:
        check(kind, given_, where)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith("configuration: key ")
    return message


# ------------------------------------------------------------------ there and back

RATES = st.floats(0, 1, exclude_min=True, exclude_max=True)
LAYERS = st.lists(st.integers(1, 512), min_size=1, max_size=4).map(tuple)
INNER = st.builds(Inner, RATES, LAYERS)
NAMES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)
OUTER = st.builds(
    Outer,
    epochs=st.integers(1, 99),
    file=st.none() | NAMES,
    tolerance=st.none() | st.just("demonstrations") | st.floats(0, 1e300),
    members=st.sampled_from([1, 2]),
    truncate=st.booleans(),
    kind=st.sampled_from(["first", "second"]),
    names=st.lists(NAMES, min_size=1, unique=True).map(tuple),
    sizes=st.dictionaries(NAMES, LAYERS, max_size=3),
    first=INNER,
    second=INNER,
)


@given(OUTER)
def test_built_from_its_plain_mapping_it_is_the_same(chosen):
    mapping = plain(chosen)
    assert build(Outer, mapping) == chosen
    assert build(Outer, json.loads(json.dumps(mapping))) == chosen  # as a file would hold it
    assert plain(build(Outer, mapping)) == mapping


@given(OUTER, st.sets(st.sampled_from([one.name for one in fields(Outer)])))
def test_what_is_left_out_has_its_default(chosen, kept):
    mapping = {key: value for key, value in plain(chosen).items() if key in kept}
    found, other = build(Outer, mapping), Outer()
    for one in fields(Outer):
        assert getattr(found, one.name) == getattr(chosen if one.name in kept else other, one.name)


def test_a_part_of_a_section_keeps_the_rest_of_that_sections_own_default():
    found = build(Outer, {"second": {"hidden": [8]}})
    assert found.second == Inner(rate=0.1, hidden=(8,))
    assert found.first == Inner()
    assert defaults(Outer)["second"] == {"rate": 0.1, "hidden": [64, 64]}


def test_settings_cannot_be_changed_and_share_no_default():
    found = build(Outer, {"sizes": {"a": [4, 4]}})
    assert found.sizes == {"a": (4, 4)}
    with pytest.raises(FrozenInstanceError):
        found.epochs = 3
    Outer().sizes["b"] = (1,)
    assert Outer().sizes == {}


# ------------------------------------------------------------------ what is refused


@given(st.sampled_from([math.nan, math.inf, -math.inf, 10**400, -(10**400)]))
def test_what_is_no_finite_number_is_refused(value):
    for given_, key in [
        ({"first": {"rate": value}}, "first.rate"),
        ({"tolerance": value}, "tolerance"),
        ({"epochs": value}, "epochs"),
        ({"first": {"hidden": [8, value]}}, "first.hidden"),
        ({"sizes": {"a": [value]}}, "sizes"),
    ]:
        assert refused(given_).startswith(f"configuration: key {key}: expected ")


@given(st.integers(-(10**6), 10**6))
def test_whole_numbers_keep_their_bounds(value):
    if 1 <= value <= 99:
        assert build(Outer, {"epochs": value}).epochs == value
    else:
        message = refused({"epochs": value})
        assert message == (
            "configuration: key epochs: expected a whole number of at least 1 and of at most 99, "
            f"found {value}"
        )


@given(st.floats(-2, 2))
def test_open_bounds_are_open(value):
    if 0 < value < 1:
        assert build(Inner, {"rate": value}).rate == value
    else:
        assert "expected a number above 0 and below 1" in refused({"rate": value}, Inner)


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        ({"epochs": 2.0}, "key epochs: expected a whole number of at least 1 and of at most 99"),
        ({"epochs": True}, "found true"),
        ({"epochs": None}, "found null"),
        ({"epochs": "1e3"}, "found the text '1e3' (in YAML write 1.0e3)"),
        ({"epochs": [1]}, "found the list [1]"),
        ({"epochs": {"a": 1}}, "found a mapping {'a': 1}"),
        ({"truncate": 1}, "key truncate: expected true or false, found 1"),
        ({"file": ""}, "key file: expected a text or null, found the text ''"),
        ({"tolerance": "near"}, "expected a number of at least 0 or demonstrations or null"),
        ({"tolerance": -1}, "expected a number of at least 0 or demonstrations or null"),
        ({"members": 3}, "key members: expected a whole number among 1, 2, found 3"),
        ({"kind": "third"}, "key kind: expected one of first, second, found the text 'third'"),
        ({"names": []}, "key names: expected a list of texts, each only once, found the list []"),
        ({"names": ["a", "a"]}, "each only once"),
        ({"names": "a"}, "found the text 'a'"),
        ({"first": {"hidden": [0]}}, "key first.hidden: expected a list of whole numbers of at"),
        ({"first": 3}, "key first: expected a mapping of keys, found 3"),
        ({"sizes": {"a": 3}}, "key sizes: expected a mapping of names to a list of whole numbers"),
        ({"sizes": {1: [3]}}, "key sizes: expected a mapping of names"),
    ],
)
def test_what_is_wrong_is_one_sentence(given_, sentence):
    assert sentence in refused(given_)


def test_errors_name_the_whole_way_to_the_key():
    assert "key learning.icl.first.rate: " in refused({"first": {"rate": 2}}, where="learning.icl")
    assert refused(3, where="learning") == (
        "configuration: key learning: expected a mapping of keys, found 3"
    )


def test_an_unknown_key_may_be_a_slip():
    assert refused({"epoch": 3}) == (
        "configuration: key epoch is unknown; did you mean epochs? valid keys are "
        "epochs, file, first, kind, members, names, second, sizes, tolerance, truncate"
    )
    assert "key second.raet is unknown; did you mean rate?" in refused({"second": {"raet": 1}})
    assert "did you mean" not in refused({"zzz": 3})
    with pytest.raises(InputError, match="valid keys are none"):
        check_keys({"a": 1}, [], "world")


@given(st.dictionaries(NAMES, st.integers(), min_size=1))
def test_every_unknown_key_is_refused(given_):
    known = {one.name for one in fields(Outer)}
    if not set(given_) <= known:
        first = sorted(set(given_) - known)[0]
        assert f"key {first} is unknown" in refused(given_)


# ------------------------------------------------------------------ layers and choices

TREES = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), st.integers() | inner, max_size=3),
    max_leaves=6,
)


@given(TREES, TREES, TREES)
def test_layers_are_laid_in_any_grouping_and_keys_are_sorted(a, b, c):
    assert merge(a, {}) == merge({}, a) == merge(a, a) == a
    laid = merge(a, b)
    assert list(laid) == sorted(laid)
    for key in laid:
        if key not in b:
            assert laid[key] == a[key]
        elif not isinstance(b[key], dict):
            assert laid[key] == b[key]
        elif isinstance(a.get(key), dict):
            assert laid[key] == merge(a[key], b[key])
    assert json.dumps(merge(a, b, c)) == json.dumps(merge(merge(a, b, c)))


def test_sections_that_a_choice_leaves_unused_are_left_out():
    whole = defaults(Outer)
    assert "second" not in used(Outer, whole) and "first" in used(Outer, whole)
    assert "first" not in used(Outer, {**whole, "kind": "second"})
    assert used(Outer, {"epochs": 3, "second": {"rate": 0.2}}) == {"epochs": 3}  # the default's


def test_keys_are_joined_by_dots():
    assert join("", "a") == "a"
    assert join("a.b", "c") == "a.b.c"


# ------------------------------------------------------------------ described


def test_every_setting_is_described_with_its_own_default():
    lines = {key: rest for key, *rest in described(Outer, "x")}
    assert lines["x.epochs"] == [
        "a whole number of at least 1 and of at most 99",
        20,
        "passes over the data",
    ]
    assert lines["x.second.rate"] == ["a number above 0 and below 1", 0.1, "step size"]
    assert lines["x.kind"][0] == "one of first, second"
    assert "x.second" not in lines
    assert len(lines) == 8 + 2 + 2


def test_the_schema_says_what_check_says():
    schema = json_schema(Outer)
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {one.name for one in fields(Outer)}
    parts = schema["properties"]
    assert parts["epochs"] == {
        **{"description": "passes over the data", "type": "integer"},
        **{"minimum": 1, "maximum": 99},
    }
    assert parts["first"]["properties"]["rate"]["exclusiveMaximum"] == 1
    assert parts["kind"]["enum"] == ["first", "second"]
    assert parts["members"]["enum"] == [1, 2]
    assert parts["tolerance"]["anyOf"] == [
        {"type": "number", "minimum": 0},
        {"type": "string", "enum": ["demonstrations"]},
        {"type": "null"},
    ]
    assert parts["sizes"]["additionalProperties"]["items"] == {"type": "integer", "minimum": 1}
    json.dumps(schema)


def test_types_and_bounds_in_words():
    bounds = {one.name: meaning(one) for one in fields(Outer)}
    assert expected(int, bounds["epochs"]) == "a whole number of at least 1 and of at most 99"
    assert expected(str | None, bounds["file"]) == "a text or null"


# ------------------------------------------------------------------ examples in the docs


@pytest.mark.parametrize("module", [settings, layout])
def test_examples_in_the_docs_are_right(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_describing_half_leads_back_to_the_checking_one():
    assert settings_schema.Meaning is settings.Meaning
