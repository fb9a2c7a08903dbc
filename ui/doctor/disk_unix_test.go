//go:build linux || darwin || freebsd

package doctor

import (
	"math"
	"testing"
)

func TestTheSpaceOfADiskIsNeverTooMuchToCount(t *testing.T) {
	for _, test := range []struct {
		name         string
		blocks, size int64
		want         uint64
	}{
		{"a usual disk", 1 << 20, 4096, 4 << 30},
		{"a disk whose reserve is in use", -7, 4096, 0},
		{"a disk of 16 EiB", 1 << 52, 4096, math.MaxUint64},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := spaceOf(test.blocks, test.size); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
