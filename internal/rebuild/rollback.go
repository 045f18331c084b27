package rebuild

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"

	"tcbuild/fault"
)

// IsHeldBack reports whether an operator has pointed current at an older version. A crash between
// two steps of publishing does not count.
func (s *State) IsHeldBack(current string) bool {
	areVersions := IsVersion(current) && IsVersion(s.Current)
	return areVersions && Number(current) < Number(s.Current) && current != s.Next
}

// isHeldBack reports whether current stays at an older version, and logs it. It stays there until
// inputs or settings change, or until somebody asks to go forward.
func (c *Chain) isHeldBack(plan *Plan) (bool, error) {
	state, err := ReadState(c.Dir)
	if err != nil || plan.current == nil {
		return false, err
	}
	now, why := filepath.Base(plan.current.path), ""
	switch {
	case !state.IsHeldBack(now):
	case c.Forward:
		why = "--forward"
	case c.Force:
		why = forced
	case content(plan.records()) != state.Content:
		why = "inputs or settings have changed"
	case c.damage != "":
		return true, fault.New(fault.Damaged, "go forward: --forward builds a new one",
			"rebuild %s: an operator chose version %s, and it is damaged: %s", c.Dir, now, c.damage)
	default:
		c.Log.Warn("current stays at an older version, which an operator chose; --forward ends this",
			"version", now, "newest", state.Current)
		return true, nil
	}
	if why != "" {
		c.Log.Info("going forward from an older version", "version", now, "why", why)
	}
	return false, UpdateState(c.Dir, func(s *State) {
		s.Current, s.Next, s.Content = now, "", plan.current.content()
	})
}

// content is a digest of the inputs and settings of stages, whatever the program.
func content(stages []Record) string {
	sum := sha256.New()
	for _, record := range stages {
		record.Program, record.Fingerprint, record.Bytes = "", "", 0
		text, _ := json.Marshal(record) // texts and numbers, which always have a JSON form
		sum.Write(text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
