# The outputs are copies and marks, so that Snakemake may delete them before it runs a rule again.
# Exit code 75 means that a step was interrupted, or that an input changed: it is tried again, and
# changed inputs are prepared by the next run.


rule prepare:
    input:
        watched,
    output:
        plan=f"{RESULTS}/plan.json",
    params:
        states=states,
        command=tcbuild(),
        parts=config["parts"],
        plan=f"{DATASET}/plan.json",
    log:
        f"logs/{config['dataset']}/prepare.log",
    benchmark:
        f"benchmarks/{config['dataset']}/prepare.tsv"
    conda:
        "../envs/tcbuild.yaml"
    threads: 4
    resources:
        mem_mb=prepare_memory,
        runtime=lambda wildcards, attempt: 60 * attempt,
    shell:
        "({params.command} --step prepare --parts {params.parts} workers={threads}"
        " && cp {params.plan:q} {output.plan:q}) >{log:q} 2>&1"


rule build:
    input:
        plan=f"{RESULTS}/plan.json",
    output:
        touch(f"{RESULTS}/built/{{part}}"),
    params:
        command=tcbuild(),
        parts=config["parts"],
    log:
        f"logs/{config['dataset']}/build-{{part}}.log",
    benchmark:
        f"benchmarks/{config['dataset']}/build-{{part}}.tsv"
    conda:
        "../envs/tcbuild.yaml"
    threads: 4
    resources:
        mem_mb=memory("build"),
        runtime=minutes("build"),
    shell:
        "{params.command} --step build --part {wildcards.part}/{params.parts} workers={threads}"
        " >{log:q} 2>&1"


rule verify:
    input:
        plan=f"{RESULTS}/plan.json",
        built=expand(f"{RESULTS}/built/{{part}}", part=PARTS),
    output:
        touch(f"{RESULTS}/verified/{{part}}"),
    params:
        command=tcbuild(),
        parts=config["parts"],
        device=config["device"],
    log:
        f"logs/{config['dataset']}/verify-{{part}}.log",
    benchmark:
        f"benchmarks/{config['dataset']}/verify-{{part}}.tsv"
    conda:
        "../envs/tcbuild.yaml"
    threads: 4
    resources:
        mem_mb=memory("verify"),
        runtime=minutes("verify"),
    shell:
        "{params.command} --step verify --part {wildcards.part}/{params.parts} workers={threads}"
        " device={params.device} >{log:q} 2>&1"


rule publish:
    input:
        plan=f"{RESULTS}/plan.json",
        verified=expand(f"{RESULTS}/verified/{{part}}", part=PARTS),
    output:
        expand(f"{RESULTS}/verify-{{variant}}.json", variant=config["variants"]),
    params:
        command=tcbuild(),
        current=f"{DATASET}/current",
        results=lambda wildcards, output: os.path.dirname(output[0]),
    log:
        f"logs/{config['dataset']}/publish.log",
    benchmark:
        f"benchmarks/{config['dataset']}/publish.tsv"
    conda:
        "../envs/tcbuild.yaml"
    threads: 1
    resources:
        mem_mb=memory("publish"),
        runtime=minutes("publish"),
    shell:
        "({params.command} --step publish workers={threads}"
        " && cp {params.current:q}/verify-*.json {params.results:q}) >{log:q} 2>&1"
