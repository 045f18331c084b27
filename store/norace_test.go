//go:build !race

package store_test

const underRaceDetector = false
