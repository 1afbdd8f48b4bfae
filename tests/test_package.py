"""The package: what the wheel holds, what an import costs, and what is declared."""

import ast
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# What is imported under another name than it is installed by.
NAMES = {"ot": "pot", "yaml": "pyyaml", "PIL": "pillow", "mpl_toolkits": "matplotlib"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    target = tmp_path_factory.mktemp("wheel")
    source = target / "source"
    source.mkdir()
    for name in ("icl_core", "workflow", "tests"):
        (source / name).symlink_to(ROOT / name)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (source / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", target, source]
    subprocess.run(command, check=True, capture_output=True)
    (found,) = target.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"icl_core", f"icl_core-{PROJECT['version']}.dist-info"}
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "icl_core").rglob("*.py")}
    assert ours <= set(names)
    assert {"icl_core/showing/page/page.html", "icl_core/showing/page/page.css"} <= set(names)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("icl_core", {"numpy", "torch", "pyarrow", "matplotlib", "gymnasium", "scipy"}),
        ("icl_core.environments", {"torch", "pyarrow", "matplotlib", "gymnasium", "mujoco"}),
        ("icl_core.learning.methods.icl.algorithm", {"torch", "matplotlib", "mujoco", "ot"}),
        ("workflow.lib.shown", {"torch", "matplotlib", "mujoco", "highway_env", "scipy.stats"}),
    ],
)
def test_an_import_loads_only_what_it_uses(module, heavy):
    code = f"import sys, time, {module}; print(time.process_time()); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    seconds, loaded = done.stdout.splitlines()
    assert not heavy & set(loaded.split())
    if module == "icl_core":
        assert float(seconds) < 0.3


def test_public_names_can_be_had():
    import icl_core

    for name in icl_core.__all__:
        assert getattr(icl_core, name).__module__.startswith("icl_core.")
    with pytest.raises(AttributeError, match="nothing"):
        _ = icl_core.nothing


def imported(folder):
    """Top-level names of other packages that the code imports."""
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                yield node.module.split(".")[0]


def test_what_is_used_is_declared():
    extras = PROJECT["optional-dependencies"]
    used_by_us = ("robots", "driving", "minari", "workflow")
    ours = [*PROJECT["dependencies"], *(one for name in used_by_us for one in extras[name])]
    declared = {re.match(r"[\w.-]+", one)[0].lower() for one in ours}
    used = {*imported("icl_core"), *imported("workflow")} - sys.stdlib_module_names
    used = {NAMES.get(name, name).lower().replace("_", "-") for name in used}
    assert used - {"icl-core", "workflow"} <= declared


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    assert metadata.version("icl-core") == version
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text()
    assert json.dumps(version).strip('"') in (ROOT / "CHANGELOG.md").read_text()


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
