package action

import "slices"

// The actions that steer a replay.
const (
	Pause          ID = "pause"
	StepForward    ID = "step-forward"
	StepBack       ID = "step-back"
	SeekForward    ID = "seek-forward"
	SeekBack       ID = "seek-back"
	SeekFarForward ID = "seek-far-forward"
	SeekFarBack    ID = "seek-far-back"
	SeekStart      ID = "seek-start"
	SeekEnd        ID = "seek-end"
	Faster         ID = "faster"
	Slower         ID = "slower"
)

// Replay is the action table of a replay, without actions that need an account or
// data that recordings lack.
func Replay() *Table {
	actions := replaying()
	for _, a := range defaults() {
		switch a.ID {
		case Confirm, ConfirmMarked, Mark, MarkAll, Unmark, StopBatch, Refresh, Reconnect, Freeze, Reveal, OpenLink, Export, ExportAs, Record, Acknowledge, Mute, Digest:
			continue
		case ClearFilter, Back: // "back" is what a step back says
			a.Short, a.rank = "close", min(a.rank, 3)
		case Top, Bottom:
			a.Keys = slices.DeleteFunc(slices.Clone(a.Keys), func(key string) bool { return key == "home" || key == "end" })
		}
		if !a.Dangerous {
			actions = append(actions, a)
		}
	}
	table, err := NewTable(actions)
	if err != nil {
		panic("action: the table of a replay: " + err.Error())
	}
	return table
}

func replaying() []Action {
	return []Action{
		{ID: Pause, Keys: []string{"space"}, Title: "Pause or resume", Short: "pause", Group: Time, rank: 2,
			Tooltip: "Pauses or resumes the replay; at its end, starts over."},
		{ID: StepForward, Keys: []string{"."}, Title: "Step forward", Short: "step", Group: Time, rank: 3,
			Tooltip: "Shows the next change and pauses there."},
		{ID: StepBack, Keys: []string{","}, Title: "Step back", Short: "back", Group: Time, rank: 3,
			Tooltip: "Shows the previous change and pauses there."},
		{ID: SeekBack, Keys: []string{"["}, Title: "Back 10s", Short: "−10s", Group: Time, rank: 5,
			Tooltip: "Goes back ten seconds in the recording."},
		{ID: SeekForward, Keys: []string{"]"}, Title: "Forward 10s", Short: "+10s", Group: Time, rank: 5,
			Tooltip: "Goes forward ten seconds in the recording."},
		{ID: SeekFarBack, Keys: []string{"{"}, Title: "Back 1m", Group: Time,
			Tooltip: "Goes back one minute in the recording."},
		{ID: SeekFarForward, Keys: []string{"}"}, Title: "Forward 1m", Group: Time,
			Tooltip: "Goes forward one minute in the recording."},
		{ID: SeekStart, Keys: []string{"home"}, Title: "To the start", Group: Time,
			Tooltip: "Goes to the beginning of the recording."},
		{ID: SeekEnd, Keys: []string{"end"}, Title: "To the end", Group: Time,
			Tooltip: "Goes to the end of the recording."},
		{ID: Slower, Keys: []string{"<"}, Title: "Slower", Short: "slower", Group: Time, rank: 5,
			Tooltip: "Slows the replay down."},
		{ID: Faster, Keys: []string{">"}, Title: "Faster", Short: "faster", Group: Time, rank: 5,
			Tooltip: "Speeds the replay up."},
	}
}
