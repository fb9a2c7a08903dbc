package action

import "slices"

// Default is the table of the dashboard with the keys that it comes with.
func Default() *Table {
	table, err := NewTable(defaults())
	if err != nil {
		panic("action: the default table: " + err.Error())
	}
	return table
}

func defaults() []Action {
	return slices.Concat(focusing(), moving(), acting(), finding(), viewing())
}

func focusing() []Action {
	return []Action{
		{ID: FocusNext, Keys: []string{"tab"}, Title: "Next pane", Short: "pane", Group: Focus, Scope: Board, rank: 7,
			Tooltip: "Moves the focus to the next pane."},
		{ID: FocusPrevious, Keys: []string{"shift+tab"}, Title: "Previous pane", Group: Focus, Scope: Board,
			Tooltip: "Moves the focus to the previous pane."},
		{ID: FocusPane1, Keys: []string{"1"}, Title: "Pane 1: intents", Group: Focus, Scope: Board,
			Tooltip: "Moves the focus to the intents."},
		{ID: FocusPane2, Keys: []string{"2"}, Title: "Pane 2: shipments", Group: Focus, Scope: Board,
			Tooltip: "Moves the focus to the shipments."},
		{ID: FocusPane3, Keys: []string{"3"}, Title: "Pane 3: quota", Group: Focus, Scope: Board,
			Tooltip: "Moves the focus to the quota of the account."},
		{ID: FocusPane4, Keys: []string{"4"}, Title: "Pane 4: events", Group: Focus, Scope: Board,
			Tooltip: "Moves the focus to the events."},
		{ID: FocusPane5, Keys: []string{"5"}, Title: "Pane 5: requests", Group: Focus, Scope: Board,
			Tooltip: "Shows all observed requests in place of the events."},
		{ID: FocusPane6, Keys: []string{"6"}, Title: "Pane 6: alerts", Group: Focus, Scope: Board,
			Tooltip: "Shows what needs your attention in place of the events."},
		{ID: FocusDetail, Keys: []string{"0"}, Title: "Detail", Group: Focus, Scope: Board,
			Tooltip: "Moves the focus to the open detail."},
	}
}

func moving() []Action {
	return []Action{
		{ID: Up, Keys: []string{"k", "up"}, Title: "Up", Group: Move,
			Tooltip: "Moves the cursor up one row."},
		{ID: Down, Keys: []string{"j", "down"}, Title: "Down", Group: Move,
			Tooltip: "Moves the cursor down one row."},
		{ID: Left, Keys: []string{"h", "left"}, Title: "Left", Group: Move,
			Tooltip: "Moves to the lane or tab on the left."},
		{ID: Right, Keys: []string{"l", "right"}, Title: "Right", Group: Move,
			Tooltip: "Moves to the lane or tab on the right."},
		{ID: Top, Keys: []string{"g", "home"}, Title: "Top", Group: Move,
			Tooltip: "Moves the cursor to the first row."},
		{ID: Bottom, Keys: []string{"G", "end"}, Title: "Bottom", Group: Move,
			Tooltip: "Moves the cursor to the last row; a list of events then follows the newest."},
		{ID: PageUp, Keys: []string{"pgup", "ctrl+b"}, Title: "Page up", Group: Move,
			Tooltip: "Moves the cursor up one page."},
		{ID: PageDown, Keys: []string{"pgdown", "ctrl+f"}, Title: "Page down", Group: Move,
			Tooltip: "Moves the cursor down one page."},
	}
}

func acting() []Action {
	return []Action{
		{ID: Open, Keys: []string{"enter"}, Title: "Open detail", Short: "open", Group: Intents, Scope: Board, rank: 3,
			Tooltip: "Shows everything known about the row under the cursor; of a spender, its requests."},
		{ID: Back, Keys: []string{"esc", "backspace"}, Title: "Back", Short: "back", Group: Intents, Scope: Detail, rank: 1,
			Tooltip: "Closes the detail."},
		{ID: Confirm, Keys: []string{"c"}, Title: "Confirm intent", Short: "confirm", Group: Intents, Dangerous: true, rank: 4,
			Tooltip: "Asks whether to place the order, or on an order's head all its items; nothing is sent until you say yes."},
		{ID: Mark, Keys: []string{"x"}, Title: "Mark intent", Short: "mark", Group: Intents, Scope: Board, rank: 13,
			Tooltip: "Marks the intent under the cursor for a batch, or unmarks it, and moves on."},
		{ID: MarkAll, Keys: []string{"A"}, Title: "Mark all shown", Group: Intents, Scope: Board,
			Tooltip: "Marks every intent that can be confirmed; with a filter, only those it shows."},
		{ID: Unmark, Keys: []string{"U"}, Title: "Unmark all", Group: Intents,
			Tooltip: "Removes all marks."},
		{ID: ConfirmMarked, Keys: []string{"X"}, Title: "Confirm marked", Group: Intents, Dangerous: true,
			Tooltip: "Shows the marked orders and their sum, and asks whether to place them one after another."},
		{ID: StopBatch, Keys: []string{"K"}, Title: "Stop the batch", Group: Intents,
			Tooltip: "Sends no more of the batch; what was already sent goes on."},
		{ID: Acknowledge, Keys: []string{"d"}, Title: "Acknowledge alert", Short: "acknowledge", Group: Intents, rank: 4,
			Tooltip: "Takes the alert under the cursor off the line until it gets worse or comes back, or undoes that."},
		{ID: Mute, Keys: []string{"M"}, Title: "Mute alert", Short: "mute", Group: Intents, rank: 13,
			Tooltip: "Takes the alert under the cursor, or all of its kind, off the line for a time, and sends none of them."},
		{ID: Refresh, Keys: []string{"r"}, Title: "Read again", Short: "read again", Group: Intents, rank: 9,
			Tooltip: "Reads the intent under the cursor again, at the cost of one read; tries a refused API key again."},
		{ID: CopyID, Keys: []string{"y"}, Title: "Copy ID or value", Short: "copy", Group: Intents, rank: 8,
			Tooltip: "Copies the id of the row under the cursor; in the detail, the value on its line."},
		{ID: OpenLink, Keys: []string{"o"}, Title: "Open link", Group: Intents,
			Tooltip: "Shows the tracking link and the product page of what the cursor is on, and opens one in the browser."},
		{ID: Export, Keys: []string{"e"}, Title: "Export intent", Group: Intents,
			Tooltip: "Writes the intent under the cursor to a Markdown file and copies its path; the buyer is masked unless personal data is shown."},
		{ID: ExportAs, Keys: []string{"E"}, Title: "Export as…", Group: Intents,
			Tooltip: "Writes the intent under the cursor to a file, as Markdown or JSON, and copies its path."},
		{ID: Reveal, Keys: []string{"p"}, Title: "Show personal data", Short: "personal data", Group: Intents, Scope: Detail, rank: 8,
			Tooltip: "Shows the buyer's data until you leave the detail, or hides it; payment tokens stay hidden."},
	}
}

func finding() []Action {
	return []Action{
		{ID: Filter, Keys: []string{"/"}, Title: "Filter", Short: "filter", Group: Find, Scope: Board, rank: 5,
			Tooltip: "Shows only the rows that match what you type."},
		{ID: ClearFilter, Keys: []string{"esc"}, Title: "Clear filter", Short: "back", Group: Find, Scope: Board, rank: 3,
			Tooltip: "Shows all rows again, or all panes."},
		{ID: FilterAlike, Keys: []string{"f"}, Title: "Filter by merchant", Group: Find,
			Tooltip: "Shows only the intents of the row's merchant, then those that failed for its reason, then all again."},
		{ID: Sort, Keys: []string{"s"}, Title: "Sort", Short: "sort", Group: Find, Scope: Board, rank: 13,
			Tooltip: "Sorts the pane by its next column, and after the last one in its default order."},
		{ID: ReverseSort, Keys: []string{"S"}, Title: "Reverse order", Group: Find, Scope: Board,
			Tooltip: "Reverses the order of the rows."},
		{ID: Jump, Keys: []string{"i"}, Title: "Go to ID", Short: "go to id", Group: Find, rank: 14,
			Tooltip: "Opens the intent, shipment or event whose id you type or paste, or the order of a reference."},
		{ID: FindText, Keys: []string{"/"}, Title: "Find in the detail", Short: "find", Group: Find, Scope: Detail, rank: 11,
			Tooltip: "Finds a text in the detail and in the raw body below it; what is masked is not found."},
		{ID: FindNext, Keys: []string{"n"}, Title: "Next found", Group: Find, Scope: Detail,
			Tooltip: "Goes to the next line of the detail with the text."},
		{ID: FindPrevious, Keys: []string{"N"}, Title: "Previous found", Group: Find, Scope: Detail,
			Tooltip: "Goes to the previous line of the detail with the text."},
		{ID: CopyPosition, Keys: []string{"Y"}, Title: "Copy the position", Group: Find,
			Tooltip: "Copies a command that opens what you look at, for a colleague or for later."},
		{ID: Palette, Keys: []string{":", "ctrl+p"}, Title: "Find an action", Short: "palette", Group: Find, rank: 10,
			Tooltip: "Finds any action by a few of its letters."},
	}
}

func viewing() []Action {
	return []Action{
		{ID: Freeze, Keys: []string{"space"}, Title: "Freeze", Short: "freeze", Group: View, Scope: Board, rank: 6,
			Tooltip: "Freezes the screen and counts what is new; tillwatch keeps watching."},
		{ID: Zoom, Keys: []string{"z"}, Title: "Zoom pane", Short: "zoom", Group: View, rank: 11,
			Tooltip: "Gives the focused pane the whole screen, or shows all panes again."},
		{ID: GroupOrders, Keys: []string{"O"}, Title: "Group by order", Group: View, Scope: Board,
			Tooltip: "Groups the intents that share a reference, as one order each, or shows them one by one again."},
		{ID: ToggleIntents, Keys: []string{"alt+1"}, Title: "Hide/show intents", Group: View, Scope: Board,
			Tooltip: "Hides the intents, or shows them again."},
		{ID: ToggleShipments, Keys: []string{"alt+2"}, Title: "Hide/show shipments", Group: View, Scope: Board,
			Tooltip: "Hides the shipments, or shows them again."},
		{ID: ToggleQuota, Keys: []string{"alt+3"}, Title: "Hide/show quota", Group: View, Scope: Board,
			Tooltip: "Hides the quota, or shows it again."},
		{ID: ToggleEvents, Keys: []string{"alt+4"}, Title: "Hide/show events", Group: View, Scope: Board,
			Tooltip: "Hides events, requests and alerts, or shows them again."},
		{ID: Pulse, Keys: []string{"P"}, Title: "Pulse of the account", Short: "pulse", Group: View, Scope: Board, rank: 12,
			Tooltip: "Shows how the day is going, with charts, on the whole screen, or shows all panes again."},
		{ID: Usage, Keys: []string{"u"}, Title: "Use of the quota", Short: "usage", Group: View, Scope: Board, rank: 12,
			Tooltip: "Shows who spends the quota, with charts, on the whole screen, or shows all panes again."},
		{ID: Failures, Keys: []string{"F"}, Title: "Failures", Short: "failures", Group: View, Scope: Board, rank: 16,
			Tooltip: "Shows on the whole screen what failed, by reason and by merchant, or shows all panes again."},
		{ID: NextSpan, Keys: []string{"w"}, Title: "60s, 60m, 24h", Short: "span", Group: View, Scope: Board, rank: 16,
			Tooltip: "Switches the time span of the charts, the table of spenders, the failures or the pulse."},
		{ID: NextChart, Keys: []string{"b"}, Title: "Next chart", Group: View, Scope: Board,
			Tooltip: "Shows the chart of the next limit, if there is no room for all."},
		{ID: NextTheme, Keys: []string{"t"}, Title: "Next theme", Short: "theme", Group: View, rank: 15,
			Tooltip: "Switches to the next theme."},
		{ID: ToggleMouse, Keys: []string{"m"}, Title: "Toggle mouse", Group: View,
			Tooltip: "Leaves the mouse to the terminal, to select text, or takes it back."},
		{ID: Digest, Keys: []string{"D"}, Title: "What happened", Group: View,
			Tooltip: "Shows what happened while you were away: what is new, completed, failed, expired, and what it cost."},
		{ID: Help, Keys: []string{"?", "f1"}, Title: "Help", Short: "help", Group: General, rank: 1,
			Tooltip: "Shows every key and what the signs mean."},
		{ID: Reconnect, Keys: []string{"R"}, Title: "Reconnect the relay", Group: General,
			Tooltip: "Reconnects to a lost relay now instead of at the next attempt."},
		{ID: Record, Keys: []string{"ctrl+r"}, Title: "Record", Group: General,
			Tooltip: "Records the screen to a file, or ends the recording and says how to replay it."},
		{ID: Redraw, Keys: []string{"ctrl+l"}, Title: "Redraw", Group: General,
			Tooltip: "Draws the screen anew, after another program has written to the terminal."},
		{ID: Suspend, Keys: []string{"ctrl+z"}, Title: "Suspend", Group: General,
			Tooltip: "Suspends tillwatch and returns to the shell; fg brings it back."},
		{ID: Quit, Keys: []string{"q", "ctrl+c"}, Title: "Quit", Short: "quit", Group: General, rank: 2,
			Tooltip: "Quits tillwatch and leaves the terminal as it was."},
	}
}
