#!/bin/bash
# Brings one dataset up to date in parts, on any number of nodes, and prints the last job's number:
#   conf/slurm/array.sh my.yaml 16 --partition=cpu --mail-user=ann@lab.org
# After a failed part the other jobs end. Run the same command again: it continues. A crontab:
#   17 2 * * * cd /srv/data && conf/slurm/array.sh my.yaml 16 >/dev/null
#   7 * * * *  cd /srv/data && tcbuild status data --quiet --metrics-file /srv/metrics/tcbuild.prom
set -euo pipefail
[ $# -ge 2 ] || { echo "usage: $0 SETTINGS PARTS [SBATCH-OPTION...]" >&2; exit 2; }
config=$1 parts=$2
shift 2
plan=$(tcbuild rebuild key --quiet --json --config "$config" --parts "$parts")
key=$(sed -n 's/^ *"key": "\(.*\)",$/\1/p' <<<"$plan")
mkdir -p slurm-logs

submit() { # STEP ITS-OPTIONS SBATCH-OPTIONS...
  sbatch --parsable --job-name="tcbuild-$1" --kill-on-invalid-dep=yes --requeue --open-mode=append \
    --output=slurm-logs/%x-%j.log --cpus-per-task=4 --mem=8G --time=4:00:00 --mail-type=FAIL \
    "${@:3}" --wrap \
    "exec tcbuild rebuild $1 --quiet --config $(printf %q "$config") --key $key $2 \
      workers=\$SLURM_CPUS_PER_TASK"
}

part="--part \$SLURM_ARRAY_TASK_ID/$parts"
if grep -q '"ready": true' <<<"$plan"; then submit publish "--parts $parts" "$@"; exit; fi
build=$(submit build "$part" --array="1-$parts" "$@")
verify=$(submit verify "$part" --array="1-$parts" --dependency="afterok:$build" "$@")
submit publish "--parts $parts" --dependency="afterok:$verify" "$@"
