package rebuild

import (
	"os"
	"path/filepath"
	"slices"

	"tcbuild/fault"
)

// HeldBack says that an operator pointed current at an older version. It stays there until inputs
// or settings change, or until somebody asks to go forward.
type HeldBack struct {
	Version string   `json:"version"` // current
	Newest  string   `json:"newest"`  // current before
	Stages  []Record `json:"stages"`  // of the newest
}

// isHeldBack reports whether current stays at an older version, and logs it. It records whether an
// operator has moved the link since the last run; a crash between two steps of publishing does not
// count.
func (c *Chain) isHeldBack(plan *Plan) (bool, error) {
	state, err := ReadState(c.Dir)
	if err != nil || plan.current == nil {
		return false, err
	}
	link, err := os.Readlink(filepath.Join(c.Dir, Current))
	if err != nil || !IsVersion(filepath.Base(link)) {
		return false, err
	}
	now, held := filepath.Base(link), state.HeldBack
	if held != nil && held.Version != now {
		held = nil
	}
	older := IsVersion(state.Current) && Number(now) < Number(state.Current)
	if held == nil && older && now != state.Next {
		held = &HeldBack{Version: now, Newest: state.Current, Stages: plan.records()}
		if newest := readVersion(filepath.Join(c.Dir, state.Current)); newest != nil {
			held.Stages = newest.Stages
		}
	}
	why := ""
	switch {
	case held == nil:
	case c.Forward:
		why = "--forward"
	case c.Force:
		why = forced
	default:
		why = whatChanged(held.Stages, plan.records())
	}
	if held != nil && why != "" {
		c.Log.Info("going forward from an older version", "version", now, "why", why)
		held = nil
	}
	if held != nil && c.damage != "" {
		return true, fault.New(fault.Damaged, "go forward: --forward builds a new one",
			"rebuild %s: an operator chose version %s, and it is damaged: %s", c.Dir, now, c.damage)
	}
	if held != nil {
		c.Log.Warn("current stays at an older version, which an operator chose; --forward ends this",
			"version", now, "newest", held.Newest)
	}
	return held != nil, UpdateState(c.Dir, func(s *State) {
		s.HeldBack = held
		if held == nil {
			s.Current, s.Next = now, ""
		}
	})
}

// whatChanged names an input or setting that differs between two plans, "" if nothing but the
// program does.
func whatChanged(was, now []Record) string {
	now = slices.Clone(now)
	for i := range min(len(was), len(now)) {
		now[i].Program = was[i].Program
	}
	return whatDiffers(was, now)
}
