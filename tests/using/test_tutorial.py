"""docs/tutorial.md: every block runs, and the notebook is the same page."""

import json

import numpy as np

from tests import tutorial

SMALLER = {
    'sizes = {"constrained_rl": {"epochs": 100}, "loop": {"iterations": 3}}': (
        'sizes = {"constrained_rl": {"epochs": 4, "penalty": {"episodes": 4}}, '
        '"density": {"epochs": 1}, "adjustment": {"rounds": 2, "steps": 20, "episodes": 6}, '
        '"loop": {"iterations": 2, "selection_episodes": 10}}'
    ),
    "steps = 20_000": "steps = 256",
    "episodes=40": "episodes=8",
    "range(50)": "range(2)",
}


def test_every_block_runs(tmp_path):
    said, names = tutorial.run(tutorial.PAGE.read_text(), tmp_path, SMALLER)
    assert "in the disc:" in said and "with the learned cost: " in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "constraint.png",
        "robot.safetensors",
    ]
    seen, acted = np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32)
    here = names["constraint"].predict(seen, acted)
    import torch

    there = names["module"](torch.as_tensor(seen), torch.as_tensor(acted))
    np.testing.assert_allclose(here, there.detach().numpy(), atol=1e-6)


def test_the_notebook_is_the_page():
    text = tutorial.PAGE.read_text()
    page = json.loads(tutorial.NOTEBOOK.read_text())
    code = ["".join(cell["source"]) for cell in page["cells"] if cell["cell_type"] == "code"]
    assert code == [one.strip("\n") for one in tutorial.blocks(text)]
    assert tutorial.NOTEBOOK.read_text() == tutorial.notebook(text)
