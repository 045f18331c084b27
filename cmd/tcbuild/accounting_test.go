package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tcbuild/internal/testing/testrun"
)

const slurmdbdConf = `AuthType=auth/munge
AuthInfo=socket=%[1]s/munge/socket
DbdHost=localhost
DbdPort=%[2]d
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=%[3]d
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct
PidFile=%[1]s/slurmdbd.pid
LogFile=%[1]s/slurmdbd.log
`

// SLURM looks at the memory of jobs every second, and kills those that take more than they asked
// for.
const accountingConf = `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort=%[2]d
AccountingStoragePass=%[1]s/munge/socket
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
`

// startAccountingCluster also starts a database of jobs, which Snakemake's plugin asks for their
// states.
func startAccountingCluster(t *testing.T) cluster {
	t.Helper()
	testrun.NeedPrograms(t, "slurmdbd", "sacctmgr", "mariadbd", "mysql_install_db")
	c, host := newCluster(t)
	c.configureMachine(t)
	data, socket := "--datadir="+c.dir+"/db", "--socket="+c.dir+"/db.socket"
	accounting, database := freePort(t), freePort(t)
	c.run(t, "mysql_install_db", "--no-defaults", "--user=root", data,
		"--auth-root-authentication-method=socket")
	c.daemon(t, "mariadbd", "--no-defaults", "--user=root", data, socket,
		fmt.Sprint("--port=", database), "--bind-address=127.0.0.1")
	const user = "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm';" +
		"GRANT ALL ON slurm_acct.* TO slurm@'127.0.0.1'"
	eventually(t, "the database", func() bool {
		return c.command("mariadb", "--no-defaults", socket, "-e", user).Run() == nil
	})
	more := fmt.Sprintf(accountingConf, c.dir, accounting)
	writeFiles(t, c.dir, map[string]string{
		"slurm.conf":    fmt.Sprintf(slurmConf, host, c.dir, 1, 2) + more, // sacctmgr reads it
		"slurmdbd.conf": fmt.Sprintf(slurmdbdConf, c.dir, accounting, database),
	})
	if err := os.Chmod(filepath.Join(c.dir, "slurmdbd.conf"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.daemon(t, "slurmdbd", "-D")
	eventually(t, "accounting", func() bool {
		return c.command("sacctmgr", "--immediate", "add", "cluster", "test").Run() == nil
	})
	c.run(t, "sacctmgr", "--immediate", "add", "account", "lab")
	c.run(t, "sacctmgr", "--immediate", "add", "user", "root", "account=lab")
	for !c.startDaemons(t, host, more) {
	}
	return c
}

// configureMachine links the configuration to where jobs look for it that start others, such as the
// plugin's.
func (c cluster) configureMachine(t *testing.T) {
	t.Helper()
	const conf = "/etc/slurm/slurm.conf"
	own := filepath.Join(c.dir, "slurm.conf")
	if target, _ := os.Readlink(conf); isLeft(target) {
		os.Remove(conf)
	}
	if err := os.MkdirAll(filepath.Dir(conf), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, conf); err != nil {
		t.Skipf("another SLURM is configured here: %v", err)
	}
	t.Cleanup(func() {
		if target, _ := os.Readlink(conf); target == own {
			os.Remove(conf)
		}
	})
}

// isLeft reports whether a link's target is the configuration of a killed run of this test.
func isLeft(target string) bool {
	if !strings.HasPrefix(filepath.Base(filepath.Dir(target)), clusterPrefix) {
		return false
	}
	_, err := os.Stat(target)
	return errors.Is(err, fs.ErrNotExist)
}

// Snakemake's plugin runs the parts as SLURM jobs, which see the folder's key.
func TestSnakemakeOnSLURM(t *testing.T) {
	skipShort(t)
	t.Parallel()
	testrun.NeedPrograms(t, "snakemake")
	dir, environment := operations(t)
	out, _ := runIn(t, dir, environment, "snakemake", "--help")
	if !strings.Contains(out, "slurm") {
		t.Skip("snakemake-executor-plugin-slurm is not installed (PyPI)")
	}
	c := startAccountingCluster(t)
	environment = append(environment, "SLURM_CONF="+filepath.Join(c.dir, "slurm.conf"))
	out, ok := runIn(t, dir, environment, "snakemake", "--snakefile", absolute(t, snakefile),
		"--workflow-profile", absolute(t, filepath.Dir(snakefile)+"/profiles/slurm"),
		"--default-resources", "slurm_account=lab", "slurm_partition=only",
		"--set-threads", "build=1", "verify=1",
		"--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1")
	if !ok {
		t.Fatal(out)
	}
	must(t, dir, "verify", "data/my/current/incidence")
	must(t, dir, "status", "data")
}
