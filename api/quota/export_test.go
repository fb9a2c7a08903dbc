package quota

// Waiting is how many requests of class wait for quota.
func (p *Pacer) Waiting(class Class) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue(class).waiting)
}
