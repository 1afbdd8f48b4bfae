"""One look for all figures, and files that depend on nothing but what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # colours and sizes are also had without drawing
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

COLUMN, PAGE = 3.25, 6.75  # inches: one column, and the width of the text

# Okabe and Ito's palette, whose colours colour-blind readers can distinguish.
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILION, GREY, DARK = "#D55E00", "#8C8C8C", "#262626"
LINE_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, GREY, DARK)  # the paper's: a=0 blue, a=1 orange

CONSTRAINT_MAP = "viridis"  # perceptually even, readable without colour vision
ACCRUAL_MAP = "magma"  # bright is much, as bright is forbidden

RC: dict[RcKeyType, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "mathtext.fontset": "dejavusans",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 6,
    "ytick.labelsize": 6,
    "legend.fontsize": 6,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": DARK,
    "axes.labelcolor": DARK,
    "text.color": DARK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlepad": 4,
    "axes.labelpad": 2,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
    "lines.linewidth": 1.2,
    "hatch.linewidth": 0.5,
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "svg.hashsalt": "icl",  # ids inside an SVG are random without it
    "svg.fonttype": "path",  # the reader need not have the font
    "path.simplify": True,
}


@contextmanager
def publication_style() -> Iterator[None]:
    """Draw and save inside this block."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # nothing of the user's own matplotlibrc
        matplotlib.rcParams.update(RC)
        yield


def panels(columns: int, height: float, rows: int = 1, **sharing) -> tuple[Figure, np.ndarray]:
    """A figure and its (rows, columns) axes; one column wide up to two panels, else a page."""
    from matplotlib.figure import Figure

    width = COLUMN if columns <= 2 else PAGE
    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(rows, columns, squeeze=False, **sharing)


def title(axes: Axes, text: str, subtitle: str = "") -> None:
    """A panel's title, with a smaller line below it. All panels of a row should have both."""
    axes.set_title(f"{text}\n" if subtitle else text)
    if subtitle:
        axes.annotate(
            subtitle,
            (0.5, 1),
            xytext=(0, 4),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=6,
            color="#595959",
        )


def threshold_line(axes: Axes, threshold: float, side: str = "right") -> None:
    """A dashed line at beta, named above its right or left end, or behind it ("outside")."""
    axes.axhline(threshold, color=VERMILION, linewidth=0.9, linestyle=(0, (4, 2)))
    outside = side == "outside"
    axes.annotate(
        rf"$\beta={threshold:g}$",
        ({"left": 0.015, "right": 0.985, "outside": 1.0}[side], threshold),
        xytext=(2, 0) if outside else (0, 1.5),
        xycoords=axes.get_yaxis_transform(),
        textcoords="offset points",
        ha="left" if outside else side,
        va="center" if outside else "bottom",
        fontsize=6,
        color=VERMILION,
    )


def colour_bar(
    figure: Figure, last: Axes, image: ScalarMappable, label: str, width: float = 0.06
) -> None:
    """One bar for all panels, beside the last of them and as high as it; `width` in its widths."""
    bar = figure.colorbar(image, cax=last.inset_axes((1.06, 0, width, 1)), label=label)
    bar.ax.spines["outline"].set_visible(False)


def left_out(axes: Axes, why: str) -> None:
    """An empty panel that says why it is one."""
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.spines[:].set_visible(False)


def footer(figure: Figure, text: str) -> None:
    """Small print at the bottom right; the layout keeps room for it."""
    if text:
        figure.supxlabel(text, x=0.995, ha="right", fontsize=5.5, color=GREY)


def plus_minus(mean: float, std: float) -> str:
    """ "0.081 ± 0.012"; "undefined" where there is no number."""
    return "undefined" if mean != mean else f"{mean:.3f} ± {std:.3f}"
