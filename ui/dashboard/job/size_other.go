//go:build !unix

package job

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// FollowSize does nothing: the library reads a new size as it reads a key.
func FollowSize(context.Context, any, tea.WindowSizeMsg, func(tea.WindowSizeMsg)) {}
