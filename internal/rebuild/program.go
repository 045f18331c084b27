package rebuild

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
)

// Identity is the program's version for fingerprints. If the version does not name a clean commit,
// the executable's digest distinguishes builds.
func Identity(version string) (string, error) {
	if !strings.Contains(version, "commit unknown") && !strings.Contains(version, ", modified") {
		return version, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return fmt.Sprintf("%s, sha256 %.12x", version, sum.Sum(nil)), nil
}
