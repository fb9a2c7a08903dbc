//go:build !unix

package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// followSize does nothing: the system tells of a new size as of a key.
func followSize(context.Context, any, tea.WindowSizeMsg, func(tea.WindowSizeMsg)) {}
