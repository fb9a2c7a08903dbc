//go:build !unix

package job

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

const followsSize = false

// FollowSize does nothing: on this system the keyboard reports a new size.
func FollowSize(context.Context, any, tea.WindowSizeMsg, func(tea.WindowSizeMsg)) {}
