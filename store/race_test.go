//go:build race

package store_test

// underRaceDetector says that everything takes five to ten times as long.
const underRaceDetector = true
