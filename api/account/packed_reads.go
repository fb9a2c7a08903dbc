package account

// packedReads keeps reads that are packed, each under a number from 1 that its
// record holds: most intents of a long history have none.
type packedReads struct {
	texts blocks[string]
	free  []uint32
}

const packedPerBlock = 512

// put keeps what a read was packed to in place of what the number stood for.
func (p *packedReads) put(number *uint32, packed string) {
	switch last := len(p.free) - 1; {
	case *number != 0:
	case last >= 0:
		*number, p.free = p.free[last], p.free[:last]
	default:
		*number, _ = p.texts.add()
	}
	*p.texts.at(*number) = packed
}

// drop forgets what a number stands for, if for anything.
func (p *packedReads) drop(number *uint32) {
	if *number != 0 {
		*p.texts.at(*number) = ""
		p.free = append(p.free, *number)
		*number = 0
	}
}

// text is what is kept under a number that was given out.
func (p *packedReads) text(number uint32) string { return *p.texts.at(number) }
