"""Settings of the old configuration in the shape of the new one. Goes when config.yaml has it."""


def new_shape(experiment, seeds):
    """The settings of an experiment with a section for each method."""
    old = experiment.learning
    loop = _renamed(old["icl"])
    icl = {
        "constraint": old["constraint"],
        "density": old["density"],
        "constrained_rl": _of_procedure(old["constrained_rl"]),
        "adjustment": _renamed(old["adjustment"]),
        "loop": loop,
    }
    hidden, on_policy = old["constraint"]["hidden"], _renamed(old["on_policy"])
    baseline = {"hidden": hidden, "on_policy": on_policy}
    sections = {
        "icl": icl,
        "gail-constraint": {**baseline, **old["gail_constraint"]},
        "icrl": {**baseline, **old["icrl"]},
    }
    demonstrations = dict(experiment.demonstrations)
    demonstrations["constrained_rl"] = _of_procedure(demonstrations["constrained_rl"])
    methods = list(experiment.methods)
    return {
        "methods": methods,
        "seeds": list(seeds),
        "demonstrations": demonstrations,
        "learning": {"threshold": old["threshold"], **{m: sections[m] for m in methods}},
        "measuring": {"report_episodes": experiment.measuring["rollouts"]},
    }


def _of_procedure(old):
    """What all procedures share, and the section of the one that is run."""
    lagrangian = _renamed(old["lagrangian"])
    lagrangian["on_policy"] = _renamed(lagrangian["on_policy"])
    penalty = {key: old[key] for key in ("episodes", "truncate", "feasibility_rate", "ppo")}
    shared = {key: old[key] for key in ("procedure", "epochs")}
    chosen = old["procedure"]
    return {**shared, chosen: {"penalty": penalty, "lagrangian": lagrangian}[chosen]}


def _renamed(section):
    names = {"critics_apart": "separate_critic_updates", "choice_rollouts": "selection_episodes"}
    names |= {"nominal_start": "unconstrained_first_policy", "bound": "max_agent_cost"}
    names |= {"snapshots": "policies_per_iteration", "farthest": "max_kl"}
    return {names.get(key, key): value for key, value in section.items()}
