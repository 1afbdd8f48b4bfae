"""Inverse constraint learning (paper, Algorithm 1), one module per step.

`algorithm` reads from top to bottom as the paper's Algorithm 1. Each step is a function from
the artifacts before it to the next, so that the workflow can run, cache and repeat it alone;
all of them serve a stack of runs. Iteration i trains a policy pi_i under the constraint c_(i-1)
(`policy_step`), then adjusts the constraint to c_i (`adjustment`, `soft_loss`). What is kept in
the end is the pair (c_(i-1), pi_i) whose policy is closest to the demonstrations (`selection`);
the true constraint has no say in it.
"""
