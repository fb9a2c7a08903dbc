package command

import (
	"reflect"
	"testing"
)

const smaps = `00400000-00c29000 r-xp 00000000 fe:00 1234 /opt/bin/tillwatch
Size:               8356 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00c29000-0157f000 r--p 00829000 fe:00 1234 /opt/bin/tillwatch
Anonymous:             8 kB
0157f000-01600000 r--p 0117f000 fe:00 1234 /opt/bin/tillwatch
Anonymous:             0 kB
01600000-01681000 rw-p 01200000 fe:00 1234 /opt/bin/tillwatch
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000100000 r-xp 00000000 fe:00 77 /lib/libc.so
Anonymous:             0 kB
torn-line r-xp 00000000 fe:00 1234 /opt/bin/tillwatch
Anonymous:             0 kB
`

func TestOnlyPagesOfTheProgramThatHoldNothingElseAreDropped(t *testing.T) {
	want := []span{{0x400000, 0xc29000}, {0x157f000, 0x1600000}}
	if got := filePages(smaps, "/opt/bin/tillwatch"); !reflect.DeepEqual(got, want) {
		t.Errorf("dropped %x, want %x", got, want)
	}
}

func TestTheProgramRunsOnWithoutItsPages(t *testing.T) {
	before := filePages(smaps, "/opt/bin/tillwatch")
	var pages programPages
	for range 2 {
		pages.drop()
	}
	if len(pages.spans) == 0 {
		t.Error("the program has no pages")
	}
	if after := filePages(smaps, "/opt/bin/tillwatch"); !reflect.DeepEqual(before, after) {
		t.Errorf("%x became %x", before, after)
	}
}
