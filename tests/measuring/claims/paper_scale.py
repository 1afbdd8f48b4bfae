"""Files for all that the claims read at the paper's scale, with made-up content.

Which files these are is not said here: `Shown` asks config.yaml and the checks.
"""

from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from icl_core.artifacts import write_table, write_tensors
from icl_core.job_times import Record, write_time
from icl_core.layout import ALL, identity, path, seeds_of
from icl_core.learning.engine.networks import Networks
from icl_core.learning.engine.training import (
    ADJUSTMENT_SCHEMA,
    LOG_EVERY,
    TRAINING_COLUMNS,
    TRAINING_SCHEMA,
    log_table,
)
from icl_core.learning.methods.icl.state import PolicyState
from icl_core.learning.problem import BEST, LAST
from icl_core.learning.true_fit import FIT_SCHEMA, RECORDS
from icl_core.measuring.evaluation import stored
from icl_core.measuring.metrics import METRICS_SCHEMA
from icl_core.measuring.results import Results
from icl_core.randomness import generators
from tests import fake_results
from tests.worlds import small_world, some_policies
from workflow.lib.configuration import read_configuration
from workflow.lib.plan import Plan
from workflow.lib.shown import Shown

ROOT = Path(__file__).parents[3]


class PaperScale:
    """The files, under a folder."""

    def __init__(self, folder):
        self.folder, self.rng = folder, np.random.default_rng(0)
        self.configuration = read_configuration(ROOT, "paper")
        self.shown = Shown(Plan(self.configuration, ROOT))

    def results(self):
        """Write them all; the Results over them, as the job has them that checks the claims."""
        given = self.shown.claim_settings(None)
        paths = [str(self.write(**identity(one))) for one in self.shown.claim_inputs(None)]
        betas = {name: own["threshold"] for name, own in given["worlds"].items()}
        return Results(
            scale="paper",
            worlds={name: self.worlds[name] for name in given["worlds"]},
            paths=tuple(paths),
            methods=dict(given["methods"]),
            settings=given["experiments"],
            betas={name: beta for name, beta in betas.items() if beta is not None},
        )

    @cached_property
    def worlds(self):
        known = self.configuration.experiments
        return {name: small_world(one.environment, **one.world) for name, one in known.items()}

    def write(self, kind, **fields):
        """One file, by a function that is named after its kind."""
        file = self.folder / path(kind, **fields)
        file.parent.mkdir(parents=True, exist_ok=True)
        seeds = seeds_of(fields["group"]) if fields.get("group", ALL) != ALL else ()
        made = getattr(self, kind)(fields, seeds)
        if isinstance(made, pa.Table):
            write_table(file, made, {})
        elif isinstance(made, Record):
            write_time(file, made)
        else:
            write_tensors(file, made, {})
        return file

    def job_time(self, fields, seeds):
        return Record(8.0, 10.0, "")

    iteration_time = job_time

    def constraint(self, fields, seeds):
        world = self.worlds[fields["experiment"]]
        return fake_results.fitted(world, seeds, fields["method"]).tensors()

    def iteration_constraint(self, fields, seeds):
        rngs = generators(seeds, "constraint", fields["iteration"])
        return Networks.initialise(rngs, (2, 4, 1)).tensors("constraint.")

    def iteration_policy(self, fields, seeds):
        rngs = generators(seeds, "policy", fields["iteration"])
        policy, n = some_policies(self.worlds[fields["experiment"]], rngs), len(seeds)
        return PolicyState(policy, policy, np.ones(n), np.zeros(n, np.int64)).tensors()

    def expert_policy(self, fields, seeds):
        world = self.worlds[fields["experiment"]]
        return some_policies(world, generators(seeds, "expert")).tensors()

    def expert_training(self, fields, seeds):
        world = self.worlds[fields["experiment"]]
        return pa.concat_tables([fake_results.training(world, 100, seed) for seed in seeds])

    def demonstrations(self, fields, seeds):
        world = self.worlds[fields["experiment"]].name
        return fake_results.steps(world, seeds or (0,), 10, seeded=bool(seeds))

    def evaluation(self, fields, seeds):
        world = self.worlds[fields["experiment"]].name
        return stored(seeds, "last", {"last": fake_results.played(world, seeds)})

    def adjustment(self, fields, seeds):
        own = self.configuration.experiments[fields["experiment"]].learning["icl"]["adjustment"]
        shape = own["rounds"] * own["steps"], len(seeds)
        columns = {name: self.rng.random(shape) for name in ADJUSTMENT_SCHEMA.names[2:]}
        return log_table(ADJUSTMENT_SCHEMA, columns, seeds, every=LOG_EVERY)

    def training(self, fields, seeds):
        columns = {name: self.rng.random((50, len(seeds))) for name in TRAINING_COLUMNS}
        columns["steps"] = self.rng.integers(300, 500, (50, len(seeds)))
        return log_table(TRAINING_SCHEMA, columns, seeds)

    iteration_training = training

    def true_fit(self, fields, seeds):
        rows = [
            (seed, 200 * k, np.exp(-k / 10) * self.rng.uniform(0.2, 0.3))
            for seed in seeds
            for k in range(RECORDS + 1)
        ]
        columns = zip(FIT_SCHEMA.names, zip(*rows, strict=True), strict=True)
        return pa.table(dict(columns), schema=FIT_SCHEMA)

    def metrics(self, fields, seeds):
        rows = [
            (one.name, one.environment, method, seed, i, metric, self.rng.uniform(0.1, 0.9), *rest)
            for one in self.configuration.experiments.values()
            for method in one.methods
            for metric, i, *rest in _measured(one, method)
            for seed in one.seeds[method]
        ]
        columns = zip(METRICS_SCHEMA.names, zip(*rows, strict=True), strict=True)
        return pa.table(dict(columns), schema=METRICS_SCHEMA)


def _measured(one, method):
    """Metric, iteration, whether it is reported, selection and episodes of a run's rows.

    Of each iteration; and at the end by either selection, NAD of few episodes and of many.
    """
    n, few = one.iterations(method), one.measuring["report_episodes"]
    for metric, first, counts in (
        ("nad", 1, (few, few * one.measuring["sets"])),
        ("cmse", 0, (0,)),
    ):
        if metric == "cmse" and one.recorded:
            continue
        for i in range(first, n + 1 if n else 0):
            yield metric, i, False, "", 0
        for selection in (LAST, BEST):
            for episodes in counts:
                yield metric, n + 1, selection == LAST, selection, episodes
