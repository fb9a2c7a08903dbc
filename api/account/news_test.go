package account

import (
	"slices"
	"testing"
)

func TestACriticalSectionMakesOneVersionAndWakesWhoWaits(t *testing.T) {
	n := &news{}
	if first, second := n.stamp(), n.stamp(); first != 1 || second != 1 {
		t.Errorf("one section has the versions %d and %d", first, second)
	}
	n.publish()
	if n.after(0) != nil {
		t.Error("a version that is there is waited for")
	}
	waits := n.after(1)
	n.publish()
	select {
	case <-waits:
		t.Error("woken without a change")
	default:
	}
	n.stamp()
	n.publish()
	select {
	case <-waits:
	default:
		t.Error("not woken by a change")
	}
}

func TestSignalsAboutOneThingAreMergedAndComeOnce(t *testing.T) {
	var got []signal
	n := &news{observer: func(signals []signal) { got = append(got, signals...) }}
	n.note(signal{intent: "ci_1"})
	n.note(signal{intent: "ci_1", hint: true})
	n.note(signal{intent: "ci_1", fresh: true})
	n.note(signal{shipment: "shp_1", again: true})
	n.publish()()
	n.publish()()
	if want := []signal{{intent: "ci_1", hint: true, fresh: true}, {shipment: "shp_1", again: true}}; !slices.Equal(got, want) {
		t.Errorf("signalled %+v, want %+v", got, want)
	}
}
