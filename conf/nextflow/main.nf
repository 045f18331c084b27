// Builds two variants and verifies them:  nextflow run conf/nextflow/main.nf -process.cpus 8 -resume

// 75: an input changed while it was read, or the run was interrupted
def again = { task.exitStatus == 75 ? 'retry' : 'terminate' }

process dataset {
    publishDir 'data', mode: 'link'
    errorStrategy again
    maxRetries 3

    input:
    // changes: of the graph's tables, as -resume does not look into folders
    tuple val(mode), path(graph), val(changes), path(perturbations)

    output:
    tuple val(mode), path("$mode/manifest.json"), path(mode)

    """
    tcbuild dataset --mode $mode --graph $graph --perturbations $perturbations --out $mode \
        --workers $task.cpus --quiet
    """
}

process verify {
    publishDir 'data', mode: 'link'
    errorStrategy again
    maxRetries 3

    input:
    tuple val(mode), path(manifest), path(dataset)

    output:
    path "${mode}.verified.json"

    """
    tcbuild verify $dataset --json ${mode}.verified.json --quiet
    """
}

workflow {
    def changes = files('cell/graph/**').sort().collect { [it.toString(), it.lastModified()] }
    Channel.of('indices', 'full-masks')
        | map { mode -> tuple(mode, file('cell/graph'), changes, file('screen.arrow')) }
        | dataset
        | verify
}
