"""Files of configuration: what Snakemake would misread is refused, with the line."""

import os

import pytest

from icl_core.errors import InputError
from workflow.lib.yaml_files import check_files


def laughs(first: str, line: str) -> str:
    """Anchors inside anchors: ten of each in the next."""
    lines = [f"a0: &a0 {first}"]
    for k in range(12):
        lines.append(f"a{k + 1}: &a{k + 1} " + line.replace("*", f"*a{k}"))
    return "\n".join(lines)


TEN_KEYS = "{" + ", ".join(f"k{k}: *" for k in range(10)) + "}"
TEXTS = {
    "twice": ("a:\n  b: 1\n  c: 2\n  b: 3\n", "each key once, found a.b in line 2 and in line 4"),
    "twice at the top": ("a: 1\nb: 2\na: 3\n", "found a in line 1 and in line 3; remove one"),
    "twice in a line": ("a: [{b: 1, b: 2}]", "found a.0.b in line 1 and in line 1"),
    "twice in JSON": ('{"a": 1,\n"a": 2}', "found a in line 1 and in line 2"),
    "merged twice": ("a: &a {b: 1}\nc: {<<: *a, <<: *a}", "found c.<< in line 2 and in line 2"),
    "lists of anchors": (laughs("[1]", "[*, *, *, *, *, *, *, *, *, *]"), "at most 100000 entries"),
    "keys of anchors": (laughs("{a: 1}", TEN_KEYS), "at most 100000 entries, found more"),
    "merged anchors": (
        laughs("{a: 1}", "{<<: [*, *, *, *, *, *, *, *]}"),
        "at most 100000 entries",
    ),
    "an anchor inside itself": ("a: &a {b: *a}", "found an anchor inside itself"),
    "deep": ("a: " + "[" * 60 + "]" * 60, "at most 50 levels"),
    "very deep": ("a: " + "[" * 5000 + "]" * 5000, "at most 50 levels"),
    "code": ("__use_yte__: true\na: ?1 + 1", "line 1 expected settings, found the key __use_yte__"),
    "an object": (
        "a: !!python/object/apply:os.system [ls]",
        "line 1 expected YAML, found a mistake",
    ),
    "a tab": ("a:\n\tb: 1", "line 2 expected YAML, found a mistake"),
    "cut off": ("a: [1,", "expected YAML, found a mistake"),
    "two documents": ("a: 1\n---\na: 2", "line 2 expected YAML"),
    "a number of 5000 digits": ("a: " + "9" * 5000, "found one that it cannot (Exceeds the limit"),
    "a day that is none": ("a: 2001-13-45", "found one that it cannot (month must be in 1..12)"),
    "nothing": ("", "expected keys with values, found nothing"),
    "a list": ("- a", "expected keys with values, found a list or a single value"),
    "bytes": (b"a: \xe9", "expected a text in UTF-8"),
    "much": ("a: " + "x" * 1_000_000, "found one of 1000003 bytes"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_wrong_file_is_refused_with_its_line(tmp_path, case):
    text, said = TEXTS[case]
    path = tmp_path / "mine.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        check_files([path])
    assert said in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_what_is_no_file_is_called_by_its_name(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.symlink("nowhere", tmp_path / "link")
    for name, what in {
        "pipe": "a pipe",
        "link": "a link to nothing",
        ".": "a folder",
        "none": "no such file",
        "pipe/inside": "no such file",
        "x" * 300: "what cannot be looked at (file name too long)",
        "a\0b": "a path that no file can have",
    }.items():
        with pytest.raises(InputError) as error:
            check_files([tmp_path / name])
        assert f"found {what}; correct the path" in str(error.value)


def test_anchors_and_equal_keys_in_different_places_are_fine(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "a: &a {b: 1, c: {b: 2}}\nd: {<<: *a, b: 3}\ne: [{b: 1}, {b: 1}]\n1: x\n'1': y\n"
    )
    check_files([path, "config.yaml"])
