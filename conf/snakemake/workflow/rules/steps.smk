# The outputs are notes, which the steps print: sizes, for memory and time.


rule build:
    input:
        # makes what the others share
        lambda wildcards: [] if wildcards.part == "1" else f"{NOTES}/built-1.json",
    output:
        f"{NOTES}/built-{{part}}.json",
    params:
        command=tcbuild("build"),
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
        runtime=minutes,
    shell:
        "{params.command} --part {wildcards.part}/{params.parts} workers={threads}"
        " >{output:q} 2>{log:q}"


rule verify:
    input:
        expand(f"{NOTES}/built-{{part}}.json", part=PARTS),
    output:
        f"{NOTES}/verified-{{part}}.json",
    params:
        command=tcbuild("verify"),
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
        runtime=minutes,
    shell:
        "{params.command} --part {wildcards.part}/{params.parts} workers={threads}"
        " device={params.device} >{output:q} 2>{log:q}"
