"""What the rules share: the plan of all jobs. The functions behind the rules are workflow/lib/plan.py
(what learns) and workflow/lib/shown.py (what shows)."""

import os
import sys
from pathlib import Path

from icl_core.errors import InputError
from icl_core.layout import ALL
from workflow.lib.begin import LOADED, begin, job_environment, lift_rate_limit, one_of, sign_run
from workflow.lib.iterations import Iterations
from workflow.lib.resources import Requests
from workflow.program.jobs import write_jobs

ROOT = Path(workflow.basedir)
LOADED.append(workflow)

try:
    PLAN, SHOWN = begin(config, ROOT, main=workflow.is_main_process)
except InputError as error:
    # A WorkflowError would be printed with this file's lines, which are not at fault.
    sys.exit(f"error: {error}")

os.environ.update(job_environment(ROOT, PLAN.config.same_bits))
ITERATIONS = Iterations(PLAN)
REQUESTS = Requests(PLAN.config.scale)
ENV = "../envs/locked.yaml"
