package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// describeFile reads a file whole to identify it under the given name.
func describeFile(path, name string) (Input, error) {
	file, err := os.Open(path)
	if err != nil {
		return Input{}, fmt.Errorf("hash input: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{file}, make([]byte, 256<<10))
	if err != nil {
		return Input{}, fmt.Errorf("hash input %s: %w", path, err)
	}
	return Input{Name: name, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}
