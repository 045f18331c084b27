// Builds, verifies and publishes a dataset in parts:
//
//   build 1 -> build 2..N -> verify 1..N -> publish
//
// Each process is a step of 'tcbuild rebuild'. The key of what would be built is an input of all:
// other inputs, settings or programs, and a version that was lost, are other tasks to -resume. If
// the version is there, PUBLISH alone runs: it checks the version, and makes it current.
//
//   nextflow run conf/nextflow/main.nf -params-file my.yaml -resume
nextflow.enable.dsl = 2

def words(step) {
    def command = ['tcbuild', 'rebuild', step, '--quiet']
    if (params.settings) command += ['--config', params.settings]
    for (key in ['root', 'dataset', 'graph', 'perturbations']) command += "$key=${params[key]}"
    (command + "variants=[${[params.variants].flatten().join(',')}]")*.toString()
}

def quote(text) { "'" + text.toString().replace("'", "'\\''") + "'" }

// A step's command, to run where Nextflow was started: paths are relative to it.
def tcbuild(step, task, plan) {
    def command = words(step) + ["workers=${task.cpus}", '--key', plan.key]
    "cd ${quote(workflow.launchDir)} && ${command.collect { quote(it) }.join(' ')} ${task.ext.args ?: ''}"
}

// What would be built, and whether it is there.
def findPlan() {
    if (workflow.stubRun) return [key: 'stub', run: 'stub', ready: false]
    def command = words('key') + ['--json', '--parts', params.parts.toString()]
    def run = new ProcessBuilder(command).directory(workflow.launchDir.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start()
    def text = run.inputStream.text
    if (run.waitFor() != 0) exit run.exitValue(), "tcbuild rebuild key ended with ${run.exitValue()}"
    new groovy.json.JsonSlurperClassic().parseText(text).subMap(['key', 'run', 'ready'])
}

// What a step takes in MB, as measured: fixed, per million positions, per core. It gets twice that,
// and twice as much with each attempt.
def memoryOf(step, sizes, task) {
    def (fixed, positions, core) = [build: [25, 27, 5], verify: [30, 45, 16]][step]
    def needed = fixed + positions * sizes.positions / 1e6 + core * task.cpus
    Math.max(256, Math.round(2 * needed as double)) * (1L << (task.attempt - 1)) * 1.MB
}

// Ten times what a core takes for the samples of a step, plus ten minutes, more with each attempt.
def timeOf(sizes, task) {
    def seconds = 25e-6 * sizes.samples * sizes.positions / 2.4e6 * sizes.variants / (params.parts as int)
    Math.round(10 + 10 * seconds / 60 as double) * task.attempt * 1.min
}

process FIRST {
    label 'parallel'
    memory { 2.GB * (1L << (task.attempt - 1)) }
    time { 2.h * task.attempt }

    input:
    val plan

    output:
    path 'sizes.json'

    script:
    "(${tcbuild('build', task, plan)} --part 1/${params.parts}) >sizes.json"

    stub:
    """
    echo '{"positions": 1, "samples": 1, "columns": 1, "variants": 1}' >sizes.json
    """
}

process BUILD {
    label 'parallel'
    tag "${part}/${params.parts}"
    memory { memoryOf('build', sizes, task) }
    time { timeOf(sizes, task) }

    input:
    tuple val(plan), val(sizes), val(part)

    output:
    val part

    script:
    "${tcbuild('build', task, plan)} --part ${part}/${params.parts}"

    stub:
    "true"
}

process VERIFY {
    label 'parallel'
    label 'gpu'
    tag "${part}/${params.parts}"
    memory { memoryOf('verify', sizes, task) }
    time { timeOf(sizes, task) }

    input:
    tuple val(plan), val(sizes), val(part)
    val built // all parts: each reads the whole dataset's table of samples

    output:
    val part

    script:
    "${tcbuild('verify', task, plan)} ${quote('device=' + params.device)} --part ${part}/${params.parts}"

    stub:
    "true"
}

process PUBLISH {
    label 'serial'
    cache false
    memory { 2.GB * (1L << (task.attempt - 1)) }
    time { 2.h * task.attempt }

    input:
    val plan
    val verified

    script:
    "${tcbuild('publish', task, plan)} --parts ${params.parts}"

    stub:
    "true"
}

workflow {
    plan = findPlan()
    parts = plan.ready ? [] : (1..(params.parts as int)).toList()
    sizes = FIRST(Channel.fromList(parts.take(1)).map { plan })
        .map { [plan, new groovy.json.JsonSlurperClassic().parse(it.toFile())] }
    // orders of their own, for -resume
    built = BUILD(sizes.combine(Channel.fromList(parts.drop(1)))).toSortedList()
    verified = VERIFY(sizes.combine(Channel.fromList(parts)), built).toSortedList()
    PUBLISH(plan, verified)
}
