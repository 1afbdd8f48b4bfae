"""The keys of the configuration that are no room's: of the run, of experiments and of variants."""

from __future__ import annotations

from dataclasses import dataclass

from icl_core.settings import COUNT, SEED, setting


@dataclass(frozen=True)
class Run:
    """What is said once of the whole run."""

    scale: str = setting("paper", "which of `scales` is laid over the configuration")
    only_finished: bool = setting(False, "show what has been learned so far, learn nothing more")
    seeds: tuple[int, ...] = setting(
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
        "one independent run of learning for each, from an expert of its own where experts are "
        "trained (paper: five seeds)",
        **SEED,
        each_once=True,
    )
    runs: int | None = setting(
        5,
        "how many of the seeds, the smallest ones, are run where an experiment does not say "
        "otherwise; null: all",
        **COUNT,
    )
    stack: int = setting(
        10,
        "how many seeds train together in one job: a stack is far cheaper per seed than single "
        "runs; on a cluster, or with more cores than experiments, smaller stacks spread the work",
        at_least=1,
        at_most=1000,
    )
    same_bits: bool = setting(
        True, "the same bits on every x86-64 processor with AVX2 (docs/reproducible.md)"
    )


@dataclass(frozen=True)
class ExperimentKeys:
    """An environment with settings; its name is its folder in results/."""

    environment: str = setting("", "the world that it is set in")
    methods: tuple[str, ...] = setting((), "the methods that learn in it", each_once=True)
    runs: dict[str, int] | None = setting(
        None, "how many of the seeds a method is run with, by its name", **COUNT
    )
    demonstrations_of: str | None = setting(
        None, "another experiment in the same world, whose demonstrations it shares"
    )
    world: dict[str, object] | None = setting(None, "as `environments`, for this experiment alone")
    demonstrations: dict[str, object] | None = setting(None, "as above, or the path of a file")
    learning: dict[str, object] | None = setting(None, "as above")
    measuring: dict[str, object] | None = setting(None, "as above")


@dataclass(frozen=True)
class VariantKeys:
    """One change, made to several experiments: it gives experiments {experiment}-{variant}."""

    of: tuple[str, ...] = setting((), "the experiments that are varied", each_once=True)
    scales: tuple[str, ...] = setting((), "at which it is run; none: all", each_once=True)
    methods: tuple[str, ...] = setting(("icl",), "that learn in it; none: experts alone")
    world: dict[str, object] | None = setting(None, "as for an experiment")
    demonstrations: dict[str, object] | None = setting(None, "as for an experiment")
    learning: dict[str, object] | None = setting(None, "as for an experiment")
    measuring: dict[str, object] | None = setting(None, "as for an experiment")
