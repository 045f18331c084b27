package rebuild

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tcbuild/fault"
	"tcbuild/internal/disk"
	"tcbuild/internal/slurm"
	"tcbuild/internal/versions"
)

// A submitted chain has a folder DATASET/slurm/000003-3fa2c1d0 of its own, which no other chain
// touches:
const (
	chainsFolder = "slurm"
	chainName    = "chain.json"    // what was submitted: Submission
	settingsName = "settings.json" // the settings of its jobs, resolved
	ingestName   = "ingest.yaml"   // those of the section ingest, resolved
	endedName    = "ended"         // no job of it waits or runs any more
)

// keptChains is how many ended chains keep their folder, for their logs.
const keptChains = 20

// Submission is what was submitted: its jobs find this, or fail.
type Submission struct {
	User string         `json:"user"`
	Time time.Time      `json:"time"`
	Jobs []SubmittedJob `json:"jobs"`
	Pin  *versions.Pin  `json:"pin"`

	Folder string `json:"-"`
}

// SubmittedJob is a job of a chain.
type SubmittedJob struct {
	Label string `json:"label"`
	ID    string `json:"id"`
}

// IDs are those of all jobs.
func (s *Submission) IDs() (ids []string) {
	for _, job := range s.Jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// Ended reports whether none of its jobs waits or runs any more, as far as is noted.
func (s *Submission) Ended() bool { return disk.Exists(filepath.Join(s.Folder, endedName)) }

// End notes that no job waits or runs any more, and whether the chain did what it was to do.
func (s *Submission) End(published bool) error {
	var text []byte
	if published {
		text = []byte(publishedText)
	}
	return os.WriteFile(filepath.Join(s.Folder, endedName), text, 0o666)
}

const publishedText = "published\n"

// Published reports whether the chain did what it was to do.
func (s *Submission) Published() bool {
	text, err := disk.ReadRegular(filepath.Join(s.Folder, endedName))
	return err == nil && string(text) == publishedText
}

// Failure is the last failure of a job that its log ends with: the line, and the log. They are ""
// if no log ends so. A job or task in the queue has not failed: it was interrupted, and starts
// again.
func (s *Submission) Failure(queue []slurm.State) (line, log string, err error) {
	logs, err := filepath.Glob(filepath.Join(globQuoted.Replace(s.Folder), "*.log"))
	if err != nil {
		return "", "", err
	}
	var last time.Time
	for _, path := range logs {
		inQueue := slices.ContainsFunc(queue, func(task slurm.State) bool { return strings.HasSuffix(path, "-"+task.ID+".log") })
		info, err := os.Stat(path)
		if inQueue || err != nil || !info.ModTime().After(last) {
			continue
		}
		text, err := disk.ReadRegular(path)
		if err != nil {
			return "", "", err
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		for _, each := range lines[max(0, len(lines)-2):] { // a hint may follow
			if failed(each) {
				line, log, last = each, path, info.ModTime()
			}
		}
	}
	return line, log, nil
}

// failed reports whether a line of a log is the last word of the program, of SLURM, or of the shell
// that did not find the program.
func failed(line string) bool {
	return strings.HasPrefix(line, "tcbuild: ") || strings.HasPrefix(line, "slurmstepd") && strings.Contains(line, ": error: ") ||
		strings.Contains(line, "/slurm_script: line ")
}

// globQuoted makes a path mean itself in a pattern.
var globQuoted = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// SubmissionOf reads the chain whose settings a job was given.
func SubmissionOf(settings string) (*Submission, error) {
	folder := filepath.Dir(settings)
	s, err := readSubmission(folder)
	if err != nil {
		return nil, fault.New(fault.Usage, "--step is for the jobs of 'tcbuild rebuild --slurm'",
			"read the chain of --config %s: %w", settings, err)
	}
	return s, nil
}

func readSubmission(folder string) (*Submission, error) {
	s := &Submission{Folder: folder}
	err := disk.ReadJSON(filepath.Join(folder, chainName), s)
	if err == nil && s.Pin == nil {
		err = errors.New("found no pin")
	}
	return s, err
}

// Submissions are the chains of a dataset's folder, oldest first.
func Submissions(dir string) (all []*Submission, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, chainsFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		folder := filepath.Join(dir, chainsFolder, entry.Name())
		switch s, err := readSubmission(folder); {
		case err == nil:
			all = append(all, s)
		case !errors.Is(err, fs.ErrNotExist): // it was submitted by a process that was killed at once
			return nil, fault.New(fault.Failed, "remove the folder, if no job of it is in the queue",
				"read %s: %w", filepath.Join(folder, chainName), err)
		}
	}
	return all, nil
}

// Waiting are the chains of a dataset of which a job waits or runs, oldest first. If SLURM cannot
// be asked, a chain waits until it is known to have ended.
func Waiting(ctx context.Context, dir string) (waiting []*Submission, err error) {
	all, err := Submissions(dir)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Ended() || len(s.Jobs) == 0 {
			continue
		}
		queue, err := slurm.Queue(ctx, s.IDs())
		if err != nil {
			return nil, fault.New(fault.Busy, "run it where squeue is; if no job of the chain is left, remove "+s.Folder,
				"rebuild %s: jobs %s may be in the queue: %w", dir, strings.Join(s.IDs(), " "), err)
		}
		if len(queue) > 0 {
			waiting = append(waiting, s)
		} else if err := s.End(false); err != nil && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
	}
	return waiting, nil
}

// Busy is the error of whoever finds the chain in the queue.
func (s *Submission) Busy(dir string) error {
	ids := strings.Join(s.IDs(), " ")
	return fault.New(fault.Busy, "wait for it, queue behind it with --slurm --after, or give it up: scancel "+ids,
		"rebuild %s: a chain of it is in the queue: jobs %s of %s", dir, ids, s.User)
}

// Order is a chain to submit.
type Order struct {
	Cluster
	Dir      string   // where the jobs run
	Command  []string // the program and its command
	Settings []byte   // of the jobs
	Ingest   []byte   // of their section ingest; nil without one
}

// IngestPath is where the section ingest of a chain's settings will be. Settings refer to it.
func IngestPath(folder string) string { return filepath.Join(folder, ingestName) }

// NextFolder is the folder of the chain that is submitted next for a plan.
func NextFolder(chain *versions.Chain, plan *versions.Plan) (string, error) {
	entries, err := os.ReadDir(filepath.Join(chain.Dir, chainsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	number := 0
	for _, entry := range entries {
		var n int
		if _, err := fmt.Sscanf(entry.Name(), "%06d-", &n); err == nil {
			number = max(number, n)
		}
	}
	return filepath.Join(chain.Dir, chainsFolder, fmt.Sprintf("%06d-%.8s", number+1, plan.Fingerprint)), nil
}

// Submit submits a chain with its folder. The caller holds the lock of submissions and, unless the
// chain is to wait for others, the chain's.
func (o *Options) Submit(ctx context.Context, chain *versions.Chain, plan *versions.Plan, folder string, order Order) (*Submission, error) {
	jobs, err := o.jobs(order.Cluster, folder, order.Dir, order.Command)
	if err != nil {
		return nil, err
	}
	waiting, err := Waiting(ctx, chain.Dir)
	if err != nil {
		return nil, err
	}
	if len(waiting) == 0 {
		if err := chain.Clear(plan); err != nil {
			return nil, err
		}
	}
	var after []string
	for _, other := range waiting { // all: the last one may be cancelled before the others have ended
		after = append(after, other.IDs()...)
	}
	if err := prune(chain.Dir); err != nil {
		return nil, err
	}
	s := &Submission{Time: time.Now().UTC().Truncate(time.Second), Folder: folder, User: fmt.Sprint(os.Getuid())}
	if u, err := user.Current(); err == nil {
		s.User = u.Username
	}
	if s.Pin, err = plan.Pin(chain.Program); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	err = os.WriteFile(filepath.Join(folder, settingsName), order.Settings, 0o666)
	if err == nil && order.Ingest != nil {
		err = os.WriteFile(IngestPath(folder), order.Ingest, 0o666)
	}
	if err == nil {
		err = slurm.Submit(ctx, jobs, after, func(ids []string) error {
			s.Jobs = nil
			for i, id := range ids {
				s.Jobs = append(s.Jobs, SubmittedJob{jobs[i].Label, id})
			}
			return disk.WriteJSON(filepath.Join(folder, chainName), s)
		})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, nil
}

// Describe shows what Submit would submit.
func (o *Options) Describe(folder string, order Order) (string, error) {
	jobs, err := o.jobs(order.Cluster, folder, order.Dir, order.Command)
	if err != nil {
		return "", err
	}
	return slurm.Describe(jobs, nil) + "# with these settings.json:\n" + string(order.Settings) + string(order.Ingest), nil
}

// prune removes the folders of chains that ended long ago.
func prune(dir string) error {
	all, err := Submissions(dir)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s *Submission) bool { return !s.Ended() })
	for _, s := range all[:max(0, len(all)-keptChains)] {
		if err := os.RemoveAll(s.Folder); err != nil {
			return err
		}
	}
	return nil
}
