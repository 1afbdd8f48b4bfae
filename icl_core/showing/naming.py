"""Names as the paper writes them, and the order in which it shows them."""

from __future__ import annotations

from collections.abc import Iterable

METHODS = {"gail-constraint": "GAIL-Constraint", "icrl": "ICRL", "icl": "ICL"}

ENVIRONMENTS = {
    "gridworld-a": "Gridworld (A)",
    "gridworld-b": "Gridworld (B)",
    "cartpole-mr": "CartPole (MR)",
    "cartpole-mid": "CartPole (Mid)",
    "highd": "HighD",
    "exid": "ExiD",
    "ant": "Ant-Constrained",
    "halfcheetah": "HalfCheetah-Constrained",
}


def in_order(methods: Iterable[str]) -> list[str]:
    """The paper's order; methods that it does not know come last, by name."""
    known = list(METHODS)
    rank = {method: (known.index(method) if method in known else len(known)) for method in methods}
    return sorted(rank, key=lambda method: (rank[method], method))


def method_title(method: str, threshold: float | None = None) -> str:
    """A panel's title, e.g. "ICL (beta=0.99)": only ICL is given the threshold."""
    title = METHODS.get(method, method)
    if method == "icl" and threshold is not None:
        return rf"{title} ($\beta={threshold:g}$)"
    return title
