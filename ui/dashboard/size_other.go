//go:build !unix

package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// followSize does nothing: the library reads a new size as it reads a key.
func followSize(context.Context, any, tea.WindowSizeMsg, func(tea.WindowSizeMsg)) {}
