package rebuild

import (
	"fmt"
	"strings"

	"tcbuild/store"
)

// Identity is the program's version for fingerprints. If the version does not name a clean commit,
// the executable's digest distinguishes builds.
func Identity(version string) (string, error) {
	if !strings.Contains(version, "commit unknown") && !strings.Contains(version, ", modified") {
		return version, nil
	}
	file, err := store.HashFile("/proc/self", "exe") // what runs, whatever has its name now
	return fmt.Sprintf("%s, sha256 %.24s", version, file.SHA256), err
}
