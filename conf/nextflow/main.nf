// Builds, verifies and publishes a dataset in parts:
//
//   prepare -> build 1..N -> verify 1..N -> publish
//
// Each process is a step of 'tcbuild rebuild', which switches ROOT/DATASET/current only when
// everything is complete and verified. Data stays in params.root, which all nodes must see.
//
//   nextflow run conf/nextflow/main.nf -params-file my.yaml -resume
nextflow.enable.dsl = 2

// A step's command, without the step, to run where Nextflow was started: paths are relative to it.
def tcbuild(task) {
    def words = ['tcbuild', 'rebuild', '--quiet']
    if (params.settings) words += ['--config', params.settings]
    for (key in ['root', 'dataset', 'graph', 'perturbations'])
        if (params[key]) words += "$key=${params[key]}".toString()
    words += "variants=[${[params.variants].flatten().join(',')}]".toString()
    words += "workers=${task.cpus}".toString()
    "cd '${workflow.launchDir}' && " + words.collect { "'${it.replace("'", "'\\''")}'" }.join(' ') +
        " ${task.ext.args ?: ''}"
}

// What a step takes in MB, as measured: fixed, per million positions, per million samples, per
// core, per 1,000 columns. It gets twice that, and twice as much with each attempt.
def memoryOf(step, plan, task) {
    def cost = [build: [25, 27, 0, 5, 0], verify: [30, 45, 0, 16, 0], publish: [25, 27, 0, 0, 0]][step]
    def sizes = [1, plan.positions / 1e6, plan.samples / 1e6, task.cpus, plan.columns / 1e3]
    def needed = [cost, sizes].transpose().collect { it[0] * it[1] }.sum()
    Math.max(256, Math.round(2 * needed as double)) * (1L << (task.attempt - 1)) * 1.MB
}

// Ten times what a core takes for the samples of a step, plus ten minutes, more with each attempt.
def timeOf(plan, parts, task) {
    def seconds = 25e-6 * plan.samples * plan.positions / 2.4e6 * plan.variants.size() / parts
    Math.round(10 + 10 * seconds / 60 as double) * task.attempt * 1.min
}

process PREPARE {
    label 'serial'
    memory { 2.GB * (1L << (task.attempt - 1)) }
    time { 1.h * task.attempt }

    input:
    val states // of the watched files: -resume does not look into folders

    output:
    path 'plan.json'

    script:
    """
    (${tcbuild(task)} --step prepare --parts ${params.parts})
    cp '${file(params.root).toAbsolutePath()}/${params.dataset}/plan.json' .
    """

    stub:
    """
    echo '{"run": "stub", "positions": 1, "samples": 1, "columns": 1, "variants": ["incidence"]}' > plan.json
    """
}

process BUILD {
    label 'parallel'
    tag "${part}/${params.parts}"
    memory { memoryOf('build', plan, task) }
    time { timeOf(plan, params.parts, task) }

    input:
    tuple val(plan), val(part)

    output:
    val part

    script:
    "${tcbuild(task)} --step build --part ${part}/${params.parts}"

    stub:
    "true"
}

process VERIFY {
    label 'parallel'
    label 'gpu'
    tag "${part}/${params.parts}"
    memory { memoryOf('verify', plan, task) }
    time { timeOf(plan, params.parts, task) }

    input:
    tuple val(plan), val(part)
    val built // all parts: each reads the whole dataset's table of samples

    output:
    val part

    script:
    "${tcbuild(task)} device=${params.device} --step verify --part ${part}/${params.parts}"

    stub:
    "true"
}

process PUBLISH {
    label 'serial'
    memory { memoryOf('publish', plan, task) }
    time { timeOf(plan, 1, task) }
    publishDir "results/${params.dataset}", mode: 'copy'

    input:
    val plan
    val verified

    output:
    path 'verify-*.json'

    script:
    """
    (${tcbuild(task)} --step publish)
    cp '${file(params.root).toAbsolutePath()}/${params.dataset}'/current/verify-*.json .
    """

    stub:
    "touch verify-stub.json"
}

// Name, size and time of the files whose change leads to another version.
def watched() {
    def named = [params.graph, params.perturbations, params.settings, params.watch].flatten()
    def files = []
    named.findAll().collect { file(it, checkIfExists: true) }.each { path ->
        if (path.isDirectory()) path.eachFileRecurse { if (it.isFile()) files << it } else files << path
    }
    files.sort { it.toString() }.collect { "$it ${it.size()} ${it.lastModified()}".toString() }
}

workflow {
    plan = PREPARE(Channel.value(watched())).map {
        new groovy.json.JsonSlurperClassic().parse(it.toFile())
            .subMap(['run', 'fingerprint', 'samples', 'positions', 'columns', 'variants'])
    }
    parts = plan.combine(Channel.of(1..(params.parts as int)))
    built = BUILD(parts).toSortedList() // an order of its own, for -resume
    verified = VERIFY(parts, built).toSortedList()
    PUBLISH(plan, verified)
}
