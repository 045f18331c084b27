package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"tcbuild/encode"
	"tcbuild/gpuverify"
	"tcbuild/store"
)

// version is the program's and the Python package's: python/pyproject.toml reads it here.
const version = "0.1.0"

// commit is what git describe --dirty says, where release/program.sh sets it.
var commit string

// buildInfo tells builds of the program apart; version --json prints it.
type buildInfo struct {
	Version       string `json:"version"`
	Commit        string `json:"commit"`   // unknown, where the build was not in a clone
	Modified      bool   `json:"modified"` // whether the clone had changes that were not committed
	Go            string `json:"go"`
	CUDA          bool   `json:"cuda"`
	LMDB          string `json:"lmdb"`
	FormatVersion int    `json:"format_version"` // of the datasets that it writes and reads
	// by variant, the default first
	Codecs map[encode.Mode][]string `json:"codecs"`
}

// thisBuild has the commit from release/program.sh, or as the Go toolchain recorded it.
func thisBuild() buildInfo {
	b := buildInfo{Version: version, Commit: "unknown", Go: "unknown Go", CUDA: gpuverify.HasCUDA,
		LMDB: store.LMDBVersion(), FormatVersion: store.FormatVersion,
		Codecs: make(map[encode.Mode][]string)}
	for _, mode := range []encode.Mode{encode.Indices, encode.FullMasks} {
		b.Codecs[mode] = encode.Codecs(mode)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	if commit != "" {
		b.Commit, b.Modified = strings.CutSuffix(commit, "-dirty")
	}
	return b
}

// buildVersion is thisBuild in one line.
func buildVersion() string {
	b := thisBuild()
	modified := ""
	if b.Modified {
		modified = ", modified"
	}
	return fmt.Sprintf("%s (commit %s%s, %s)", b.Version, b.Commit, modified, b.Go)
}

func newVersion(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "version",
		Short: "Print the version and the commit it was built from"}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		"print JSON, with CUDA support, LMDB's version, format and codecs")
	return configured(e, cmd, func(context.Context, []string) error {
		if asJSON {
			return e.json(thisBuild())
		}
		_, err := fmt.Fprintln(e.stdout, "tcbuild", buildVersion())
		return err
	})
}

// identity tells programs apart that may build other data: releases by their version, and all other
// builds by the executable's digest.
func identity() (string, error) {
	if commit != "" && !strings.HasSuffix(commit, "-dirty") {
		return buildVersion(), nil // by release/program.sh, of a commit without changes
	}
	file, err := store.HashFile("/proc/self", "exe") // what runs, whatever has its name now
	return fmt.Sprintf("%s, sha256 %.24s", buildVersion(), file.SHA256), err
}
