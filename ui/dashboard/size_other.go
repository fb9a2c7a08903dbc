//go:build !unix

package dashboard

import "context"

// canvasPossible is false where only the library knows how to draw.
const canvasPossible = false

func followSize(context.Context, any, sizeMsg, func(sizeMsg)) {}
