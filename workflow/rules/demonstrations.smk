"""Demonstrations: recorded traffic, simulated or the user's own, and trajectories from experts, recordings
or files."""


rule simulate_recordings:
    output:
        folder=directory(PLAN.path("recordings")),
        digest=PLAN.path("recordings_digest"),
        time=PLAN.time("simulate_recordings/{environment}"),
    log:
        PLAN.log("simulate_recordings/{environment}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.recording_settings("simulation"),
        code=PLAN.code("simulate_recordings.py", "simulation"),
    script:
        "../scripts/simulate_recordings.py"


rule read_recordings:
    input:
        PLAN.recording_files,
        folder=ancient(PLAN.simulated_folder),
    output:
        tracks=PLAN.path("tracks"),
        vehicles=PLAN.path("vehicles"),
        recordings=PLAN.path("recording_list"),
        time=PLAN.time("read_recordings/{environment}"),
    log:
        PLAN.log("read_recordings/{environment}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.recording_settings("folder", "numbers", "motion_tolerance"),
        code=PLAN.code("read_recordings.py", "reader"),
    script:
        "../scripts/read_recordings.py"


rule make_scene:
    input:
        tracks=PLAN.path("tracks"),
        vehicles=PLAN.path("vehicles"),
        recordings=PLAN.path("recording_list"),
        files=PLAN.recording_files,
        folder=ancient(PLAN.simulated_folder),
    output:
        PLAN.path("scene"),
        time=PLAN.time("make_scene/{environment}"),
    log:
        PLAN.log("make_scene/{environment}"),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.recording_settings("folder", "scene"),
        code=PLAN.code("make_scene.py", "scene", "reader"),
    script:
        "../scripts/make_scene.py"


rule replay_recordings:
    input:
        scene=PLAN.scene,
    output:
        PLAN.path("demonstrations", group=ALL),
        time=PLAN.time("replay_recordings/{experiment}"),
    log:
        PLAN.log("replay_recordings/{experiment}"),
    wildcard_constraints:
        experiment=one_of(PLAN.config.experiments_from("recordings")),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given("demonstrations.trajectories", "demonstrations.seed"),
        code=PLAN.code("replay_recordings.py", "replay"),
    script:
        "../scripts/replay_recordings.py"


rule expert:
    output:
        trajectories=PLAN.path("demonstrations"),
        training=PLAN.path("expert_training"),
        policy=PLAN.path("expert_policy"),
        time=PLAN.time("expert/{experiment}/seeds-{group}"),
    log:
        PLAN.log("expert/{experiment}/seeds-{group}"),
    wildcard_constraints:
        experiment=one_of(PLAN.config.experiments_from("expert")),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given(
            "demonstrations.trajectories",
            "demonstrations.only_inputs",
            "demonstrations.constrained_rl",
        ),
        code=PLAN.code("expert.py"),
    script:
        "../scripts/expert.py"


rule import_demonstrations:
    input:
        file=PLAN.imported_file,
        about=PLAN.imported_about,
        scene=PLAN.scene,
    output:
        PLAN.path("demonstrations", group=ALL),
        time=PLAN.time("import_demonstrations/{experiment}"),
    log:
        PLAN.log("import_demonstrations/{experiment}"),
    wildcard_constraints:
        experiment=one_of(PLAN.config.experiments_from("file")),
    conda:
        ENV
    threads: 1
    resources:
        mem_mb=REQUESTS.memory,
        runtime=REQUESTS.runtime,
    params:
        settings=PLAN.given("demonstrations.tolerance"),
        code=PLAN.code("import_demonstrations.py"),
    script:
        "../scripts/import_demonstrations.py"
