#!/bin/bash
# Brings one dataset up to date in parts, on any number of nodes, and prints the last job's number:
#   conf/slurm/array.sh my.yaml 16 --partition=cpu --mail-user=ann@lab.org
# After a failed part the other jobs end. Run the same command again: it continues.
set -euo pipefail
config=$1 parts=$2
shift 2
key=$(tcbuild rebuild key --quiet --config "$config" --parts "$parts")

submit() { # STEP ITS-OPTIONS SBATCH-OPTIONS...
  sbatch --parsable --job-name="tcbuild-$1" --kill-on-invalid-dep=yes --requeue --open-mode=append \
    --cpus-per-task=4 --mem=8G --time=4:00:00 --mail-type=FAIL "${@:3}" --wrap \
    "exec tcbuild rebuild $1 --quiet --config $(printf %q "$config") --key $key $2 \
      workers=\$SLURM_CPUS_PER_TASK"
}

part="--part \$SLURM_ARRAY_TASK_ID/$parts"
build=$(submit build "$part" --array="1-$parts" "$@")
verify=$(submit verify "$part" --array="1-$parts" --dependency="afterok:$build" "$@")
submit publish "--parts $parts" --dependency="afterok:$verify" "$@"
