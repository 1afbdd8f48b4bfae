"""Traffic recordings, simulated or the user's own, and what the driving environments make of them."""


rule simulate_highd:
    output:
        directory(f"{RECORDINGS}/highd/csv"),
    log:
        f"{LOGS}/simulate_highd.log",
    benchmark:
        f"{BENCHMARKS}/simulate_highd.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=recordings_settings("highd", "simulation"),
        code=code_of("simulate_highd.py"),
    script:
        "../scripts/simulate_highd.py"


rule read_highd:
    input:
        recording_files("highd"),
    output:
        **recording_tables("highd"),
    log:
        f"{LOGS}/read_highd.log",
    benchmark:
        f"{BENCHMARKS}/read_highd.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=recordings_settings("highd", "folder", "numbers"),
        code=code_of("read_highd.py"),
    script:
        "../scripts/read_highd.py"


rule highd_scene:
    input:
        tracks=rules.read_highd.output.tracks,
        vehicles=rules.read_highd.output.vehicles,
        recordings=rules.read_highd.output.recordings,
        files=recording_files("highd"),
    output:
        f"{RECORDINGS}/highd/scene.parquet",
    log:
        f"{LOGS}/highd_scene.log",
    benchmark:
        f"{BENCHMARKS}/highd_scene.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=recordings_settings("highd", "folder", "scene"),
        code=code_of("highd_scene.py"),
    script:
        "../scripts/highd_scene.py"


rule highd_demonstrations:
    input:
        scene=scene,
    output:
        f"{RESULTS}/demonstrations/{{experiment}}/trajectories.parquet",
    log:
        f"{LOGS}/highd_demonstrations/{{experiment}}.log",
    benchmark:
        f"{BENCHMARKS}/highd_demonstrations/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=one_of(RECORDED["highd"]),
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("highd_demonstrations"),
        code=code_in_world("highd_demonstrations.py"),
    script:
        "../scripts/highd_demonstrations.py"


rule simulate_exid:
    output:
        directory(f"{RECORDINGS}/exid/csv"),
    log:
        f"{LOGS}/simulate_exid.log",
    benchmark:
        f"{BENCHMARKS}/simulate_exid.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=recordings_settings("exid", "simulation"),
        code=code_of("simulate_exid.py"),
    script:
        "../scripts/simulate_exid.py"


rule read_exid:
    input:
        recording_files("exid"),
    output:
        **recording_tables("exid"),
    log:
        f"{LOGS}/read_exid.log",
    benchmark:
        f"{BENCHMARKS}/read_exid.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=recordings_settings("exid", "folder", "numbers"),
        code=code_of("read_exid.py"),
    script:
        "../scripts/read_exid.py"


rule exid_scene:
    input:
        tracks=rules.read_exid.output.tracks,
        vehicles=rules.read_exid.output.vehicles,
        recordings=rules.read_exid.output.recordings,
        files=recording_files("exid"),
    output:
        f"{RECORDINGS}/exid/scene.parquet",
    log:
        f"{LOGS}/exid_scene.log",
    benchmark:
        f"{BENCHMARKS}/exid_scene.tsv"
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=recordings_settings("exid", "folder", "scene"),
        code=code_of("exid_scene.py"),
    script:
        "../scripts/exid_scene.py"


rule exid_demonstrations:
    input:
        scene=scene,
    output:
        f"{RESULTS}/demonstrations/{{experiment}}/trajectories.parquet",
    log:
        f"{LOGS}/exid_demonstrations/{{experiment}}.log",
    benchmark:
        f"{BENCHMARKS}/exid_demonstrations/{{experiment}}.tsv"
    wildcard_constraints:
        experiment=one_of(RECORDED["exid"]),
    conda:
        "../envs/locked.yaml"
    threads: 1
    params:
        settings=settings_of("exid_demonstrations"),
        code=code_in_world("exid_demonstrations.py"),
    script:
        "../scripts/exid_demonstrations.py"
