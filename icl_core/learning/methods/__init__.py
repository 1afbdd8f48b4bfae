"""The methods: one file or folder each, found by name (`icl_core.discovery`).

A method is a module that declares, in one place, everything about itself:

- `TITLE`, as tables write it, and `PLACE`, a number that orders it among the others there;
- `Settings`, a frozen dataclass of its settings (`icl_core.settings`) at the paper's scale;
- `SIZES`, what each smaller scale changes in them: a scale that it does not name, and that the
  configuration does not set either, is an error;
- `learn(problem, settings, job) -> Outcome` (`icl_core.learning.problem`);
- `JOBS`, the rules that its training goes through, where it is more than the one rule `learn`;
  `ITERATED`, those of them that run in each iteration, and `ITERATIONS`, the setting that says how
  many iterations there are.
"""
