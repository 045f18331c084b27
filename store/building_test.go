package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tcbuild/fault"
	"tcbuild/internal/disk"
)

// Tests wait for locks that nobody releases.
func init() { forTask, toPublish = 2*time.Second, 300*time.Millisecond }

func TestSecondBuildIsRefused(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 8, 4, 2)
	b := f.begin(t, ResumeNever, AllShards)
	for _, resume := range []Resume{ResumeNever, ResumeIfPossible, ResumeAlways} {
		_, err := Begin(f.out, f.manifest, resume, AllShards)
		wantFault(t, err, fault.Busy, "write dataset "+f.out+": another build of it is running")
	}
	f.putOthers(t, b)
	f.putShard(t, b, 0)
	b.Close()

	b = f.begin(t, ResumeIfPossible, AllShards) // the lock has gone with its owner
	if !b.Resumed {
		t.Error("the build does not go on")
	}
	f.putOthers(t, b)
	f.putShard(t, b, 0)
	f.putShard(t, b, 1)
	publish(t, b, true)
	f.check(t)
}

// A build that is about to be refused finds the other one ended: its folder, with the lock, has
// another name by then.
func TestLockGoesWhileItIsAwaited(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 8, 4, 2)
	b := f.begin(t, ResumeNever, AllShards)
	moved := make(chan error)
	refused := make(chan struct{})
	go func() {
		for opened := 1; opened < 2; { // by the other build
			opened = 0
			links, _ := filepath.Glob("/proc/self/fd/*")
			for _, link := range links {
				if file, _ := os.Readlink(link); file == b.path(".build", "lock") {
					opened++
				}
			}
			select {
			case <-refused:
				opened = 2
			default:
			}
		}
		moved <- os.Rename(b.dir, f.out)
	}()
	_, err := Begin(f.out, f.manifest, ResumeIfPossible, AllShards)
	close(refused)
	wantFault(t, err, fault.Busy, "another build of it")
	if err := <-moved; err != nil {
		t.Fatal(err)
	}
}

// Status holds a shard's lock to test it, and takes long on a busy machine.
func TestShardWhileStatusLooks(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	one := f.begin(t, ResumeIfPossible, 0)
	lock, err := disk.TryLock(one.path(".build", f.manifest.Shards[1].Name+".lock"), disk.Alone)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(5*briefly, func() { lock.Close() })
	f.begin(t, ResumeIfPossible, 1)
}

// Shards may be built by several processes; the last one publishes.
func TestShardsBuiltApart(t *testing.T) {
	t.Parallel() // the first build waits for the second one
	f := newFixture(t, Indices, "zstd", 20, 4, 2)
	one := f.begin(t, ResumeIfPossible, 0)
	two := f.begin(t, ResumeIfPossible, 1)
	_, err := Begin(f.out, f.manifest, ResumeIfPossible, 1)
	wantFault(t, err, fault.Busy, "another build of it is running")
	_, err = Begin(f.out, f.manifest, ResumeIfPossible, AllShards)
	wantFault(t, err, fault.Busy, "another build of it is running")

	for _, b := range []*Building{one, two} {
		f.putOthers(t, b)
	}
	f.putShard(t, one, 0)
	publish(t, one, false)
	one.Close()
	f.putShard(t, two, 1)
	publish(t, two, true)
	two.Close()
	f.check(t)
}

func TestResume(t *testing.T) {
	for _, test := range []struct {
		name    string
		begun   bool // there is an unfinished build
		changed bool // of another dataset
		resume  Resume
		shard   int
		resumed bool
		left    int    // unfinished shards
		want    string // error, a fault.Usage
	}{
		{"never, nothing there", false, false, ResumeNever, AllShards, false, 2, ""},
		{"if possible, nothing there", false, false, ResumeIfPossible, AllShards, false, 2, ""},
		{"always, nothing there", false, false, ResumeAlways, AllShards, false, 2, "found no unfinished build of it"},
		{"never", true, false, ResumeNever, AllShards, false, 2, ""},
		{"if possible", true, false, ResumeIfPossible, AllShards, true, 1, ""},
		{"always", true, false, ResumeAlways, AllShards, true, 1, ""},
		{"never, another", true, true, ResumeNever, AllShards, false, 2, ""},
		{"if possible, another", true, true, ResumeIfPossible, AllShards, false, 2, ""},
		{"always, another", true, true, ResumeAlways, AllShards, false, 2, "the unfinished build differs in its codec"},
		{"never, a shard", true, false, ResumeNever, 0, false, 2, ""},
		{"if possible, a shard", true, false, ResumeIfPossible, 0, true, 1, ""},
		{"a shard of another", true, true, ResumeIfPossible, 0, false, 2, "the unfinished build differs in its codec"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, Indices, "zstd", 10, 4, 2)
			if test.begun {
				b := f.begin(t, ResumeNever, AllShards)
				f.putShard(t, b, 0)
				b.Close()
			}
			if test.changed {
				f.manifest.Codec = "delta"
			}
			b, err := Begin(f.out, f.manifest, test.resume, test.shard)
			if test.want != "" {
				wantFault(t, err, fault.Usage, "dataset "+f.out, test.want)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if b.Resumed != test.resumed {
				t.Errorf("resumed %v, want %v", b.Resumed, test.resumed)
			}
			if left := b.Unfinished(); len(left) != test.left {
				t.Errorf("shards %v are unfinished, want %d", left, test.left)
			}
			f.putOthers(t, b)
			f.putShard(t, b, 0)
			if test.shard != AllShards {
				publish(t, b, false)
				b.Close()
				b = f.begin(t, ResumeAlways, 1)
			}
			f.putShard(t, b, 1)
			publish(t, b, true)
			f.check(t)
		})
	}
}

func TestPublished(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 10, 4, 1)
	if there, err := Published(f.out, f.manifest); there != nil || err != nil {
		t.Errorf("nothing is there, but %v, error %v", there, err)
	}
	if err := os.Mkdir(f.out, 0o755); err != nil {
		t.Fatal(err)
	}
	if there, err := Published(f.out, f.manifest); there != nil || err != nil {
		t.Errorf("an empty folder is there, but %v, error %v", there, err)
	}
	f.build(t) // over the empty folder
	if there, err := Published(f.out, f.manifest); there == nil || err != nil {
		t.Errorf("the dataset is there, but %v, error %v", there, err)
	}
	f.manifest.Codec = "raw"
	_, err := Published(f.out, f.manifest)
	wantFault(t, err, fault.Usage, "write dataset "+f.out+": the path exists and is another dataset, which differs in its codec")
	f.manifest.Codec = "zstd"
	f.check(t)

	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Published(other, f.manifest)
	wantFault(t, err, fault.Usage, "write dataset "+other+": the path exists and is not a dataset of this format version")
}

// A failed build without anything worth keeping leaves no files.
func TestAbandon(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 10, 4, 1)
	b := f.begin(t, ResumeNever, AllShards)
	f.putOthers(t, b)
	if b.WorthResuming() {
		t.Error("a build without samples is called worth resuming")
	}
	if err := b.Abandon(); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if left, _ := filepath.Glob(f.out + "*"); left != nil {
		t.Errorf("%q is left", left)
	}
	f.build(t)
	f.check(t)
}

// Nothing is published if a shard is incomplete or its file is missing.
func TestIncompleteIsNotPublished(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 10, 4, 2)
	b := f.begin(t, ResumeNever, AllShards)
	f.putOthers(t, b)
	f.putShard(t, b, 0)
	publish(t, b, false)
	f.putShard(t, b, 1)
	data := b.path(f.manifest.Shards[1].Name, dataName)
	if err := os.Rename(data, data+".away"); err != nil {
		t.Fatal(err)
	}
	_, err := b.Publish(nil)
	wantFault(t, err, fault.Damaged, "publish dataset "+f.out, data)
	if _, err := os.Stat(f.out); !os.IsNotExist(err) {
		t.Errorf("something stands under the dataset's name, error %v", err)
	}
	if err := os.Rename(data+".away", data); err != nil {
		t.Fatal(err)
	}
	publish(t, b, true)
	f.check(t)
}

// Two builds of one input have the same bytes in every file but run.json.
func TestSameBytes(t *testing.T) {
	for _, variant := range []Variant{Incidence, Indices, FullMasks} {
		codec := "zstd"
		if variant == Incidence {
			codec = ""
		}
		var manifests []string
		for range 2 {
			f := newFixture(t, variant, codec, 20, 4, 2)
			f.build(t)
			f.check(t)
			// it has the digests of all files
			text, err := os.ReadFile(filepath.Join(f.out, manifestName))
			if err != nil {
				t.Fatal(err)
			}
			manifests = append(manifests, string(text))
		}
		if manifests[0] != manifests[1] {
			t.Errorf("%s: two builds of one input differ:\n%s\n%s", variant, manifests[0], manifests[1])
		}
	}
}

// An unfinished build of another version of the program is not resumed: it could append different
// bytes.
func TestHalfBuildOfAnotherProgram(t *testing.T) {
	for name, change := range map[string]func(m *Manifest){
		"program":           func(m *Manifest) { m.Program = "another" },
		"samples_per_value": func(m *Manifest) { m.SamplesPerValue = 2 },
	} {
		f := newFixture(t, Indices, "zstd", 10, 4, 1)
		b := f.begin(t, ResumeNever, AllShards)
		f.putShard(t, b, 0)
		b.Close()
		change(f.manifest)
		_, err := Begin(f.out, f.manifest, ResumeAlways, AllShards)
		wantFault(t, err, fault.Usage, "the unfinished build differs in its "+name)
		b = f.begin(t, ResumeIfPossible, AllShards)
		if b.Resumed || b.Dropped != name {
			t.Errorf("%s: resumed %v, dropped for its %q", name, b.Resumed, b.Dropped)
		}
		f.putOthers(t, b)
		f.putShard(t, b, 0)
		publish(t, b, true)
		f.check(t)
	}
}

// A dataset is published without .build, even if that folder cannot be removed, and the same build
// does not run again.
func TestPublishedWithoutScratch(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 10, 4, 2)
	b := f.begin(t, ResumeNever, AllShards)
	f.putOthers(t, b)
	for i := range f.manifest.Shards {
		f.putShard(t, b, i)
	}
	busy := b.path(".build", "busy")
	if err := os.Mkdir(busy, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", busy, "tmpfs", 0, ""); err != nil {
		t.Skip("a disk cannot be mounted here:", err)
	}
	unmount := func() { _ = unix.Unmount(busy, unix.MNT_DETACH) }
	t.Cleanup(unmount)
	publish(t, b, true)
	b.Close()
	if disk.Exists(filepath.Join(f.out, ".build")) {
		t.Error("it was published with .build")
	}
	if m, err := Published(f.out, f.manifest); m == nil || err != nil {
		t.Errorf("got %v, %v", m, err)
	}
	unmount()
	if _, err := Published(f.out, f.manifest); err != nil {
		t.Error(err)
	}
	f.check(t) // nothing is left beside it
}

// A build does not empty a folder at its path of construction that no build made.
func TestFolderOfTheUserIsKept(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 10, 4, 1)
	thesis := filepath.Join(f.out+".building", "thesis.txt")
	if err := errors.Join(os.Mkdir(f.out+".building", 0o755), os.WriteFile(thesis, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, resume := range []Resume{ResumeNever, ResumeIfPossible, ResumeAlways} {
		_, err := Begin(f.out, f.manifest, resume, AllShards)
		wantFault(t, err, fault.Usage, "which no build made")
	}
	if !disk.Exists(thesis) {
		t.Error("it was removed")
	}
}

// If someone replaced the folder under construction, that is an error, and their folder is not
// changed.
func TestForeignFolderIsRefused(t *testing.T) {
	elsewhere := t.TempDir()
	for name, plant := range map[string]func(dir string) error{
		"link": func(dir string) error { return os.Symlink(elsewhere, dir) },
		"file": func(dir string) error { return os.WriteFile(dir, nil, 0o644) },
		"link inside": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.Symlink(elsewhere, filepath.Join(dir, ".build")))
		},
		"owner": func(dir string) error {
			if os.Geteuid() != 0 {
				return os.Symlink(elsewhere, dir) // only root can give folders away
			}
			return errors.Join(os.Mkdir(dir, 0o777), os.Chown(dir, 12345, 12345))
		},
	} {
		f := newFixture(t, Indices, "zstd", 10, 4, 1)
		if err := plant(f.out + ".building"); err != nil {
			t.Fatal(err)
		}
		_, err := Begin(f.out, f.manifest, ResumeIfPossible, AllShards)
		wantFault(t, err, fault.Usage, "write dataset "+f.out, "expected a folder that you own, or nothing")
		if _, err := os.Lstat(f.out + ".building"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		empty(t, elsewhere)
	}
}

// A lock that is a link is not followed, and one that cannot be taken for another reason is no
// other build.
func TestLockThatCannotBeTaken(t *testing.T) {
	f := newFixture(t, Indices, "zstd", 10, 4, 2)
	victim := filepath.Join(t.TempDir(), "victim")
	for _, name := range []string{"lock", f.manifest.Shards[0].Name + ".lock"} {
		b := f.begin(t, ResumeIfPossible, 0)
		path := b.path(".build", name)
		b.Close()
		os.Remove(path)
		if err := os.Symlink(victim, path); err != nil {
			t.Fatal(err)
		}
		_, err := Begin(f.out, f.manifest, ResumeIfPossible, 0)
		wantFault(t, err, fault.Failed, "symbolic link")
		if _, err := os.Stat(victim); err == nil {
			t.Errorf("%s: the link was followed", name)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Published files follow the umask.
func TestModesFollowTheUmask(t *testing.T) {
	defer unix.Umask(unix.Umask(0o007))
	f := newFixture(t, Indices, "zstd", 10, 4, 1)
	f.build(t)
	for _, name := range []string{manifestName, runName, "graph/nodes/gene.arrow", f.manifest.Shards[0].Name + "/" + dataName} {
		if info, err := os.Stat(filepath.Join(f.out, name)); err != nil || info.Mode() != 0o660 {
			t.Errorf("%s: %v, %v, expected -rw-rw----", name, info.Mode(), err)
		}
	}
}
