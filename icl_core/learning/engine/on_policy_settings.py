"""Settings of on-policy PPO, which several learners share."""

from __future__ import annotations

from dataclasses import dataclass

from icl_core.settings import COUNT, LAYERS, LOG_DEVIATION, POSITIVE, RATE, WEIGHT, setting


@dataclass(frozen=True)
class OnPolicySettings:
    """The learner's settings; defaults are the authors' (paper, Tables 7 to 9)."""

    hidden: tuple[int, ...] = setting((64, 64), "layers of the policy and value networks", **LAYERS)
    learning_rate: float = setting(5e-4, "step size of the policy", **RATE)
    clip: float = setting(0.1, "epsilon_PPO", above=0, below=1)
    entropy: float = setting(0.01, "weight of the entropy bonus (lambda_ent)", **WEIGHT)
    gae_lambda: float | None = setting(
        None, "lambda of the advantages; null: the environment's discount", at_least=0, at_most=1
    )
    value_weight: float = setting(0.5, "weight of the critics' squared errors", **POSITIVE)
    gradient_norm: float = setting(
        0.5, "longer gradients are cut to this length; 0: none is", **WEIGHT
    )
    steps: int = setting(2000, "steps of a rollout", at_least=1, at_most=1_000_000)
    environments: int = setting(
        20, "environments that share a rollout's steps (the authors: one)", **COUNT
    )
    passes: int = setting(25, "passes over each rollout, shuffled", **COUNT)
    batch: int = setting(64, "steps of a minibatch", at_least=2, at_most=1_000_000)
    log_deviation: float = setting(
        0.0, "log-deviation of real-valued actions, at the start", **LOG_DEVIATION
    )
    value_rate: float = setting(5e-4, "step size of the critics", **RATE)
    separate_critic_updates: bool = setting(
        False, "critics learn after the policy, and make all passes"
    )
    bootstrap: bool = setting(False, "an episode that the horizon cuts counts as going on")

    def conflict(self) -> str:
        """Every environment makes as many steps as the others."""
        if self.steps % self.environments == 0:
            return ""
        return (
            f"steps: expected a multiple of environments ({self.environments}), found "
            f"{self.steps}; change one of them"
        )
