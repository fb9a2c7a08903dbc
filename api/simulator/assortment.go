package simulator

// assortment is what the simulated merchants sell: 42 products at 14 merchants,
// all on domains that are reserved for examples.
func assortment() []*product {
	m := openMerchants()
	sizes := variantDimensionWire{"Size", []string{"S", "M", "L", "XL"}}
	colors := variantDimensionWire{"Color", []string{"Moss", "Slate", "Ember"}}
	shoe := variantDimensionWire{"Size", []string{"7", "8", "9", "10", "11", "12"}}
	grind := variantDimensionWire{"Grind", []string{"Whole bean", "Filter", "Espresso"}}
	dims := func(d ...variantDimensionWire) []variantDimensionWire { return d }

	return []*product{
		{merchant: m.spice, handle: "chili-crisp", name: "Chili Crisp", brand: "Spice Lab", price: 1490, popularity: 14},
		{merchant: m.spice, handle: "smoked-paprika", name: "Smoked Paprika", brand: "Spice Lab", price: 890, popularity: 7},
		{merchant: m.spice, handle: "black-garlic-mayo", name: "Black Garlic Mayo", brand: "Kettle Row", price: 1150, popularity: 5},
		{merchant: m.outfit, handle: "merino-crew", name: "Merino Crew Sweater", brand: "Nörrland Wool Co", price: 12900, popularity: 9, dimensions: dims(sizes, colors)},
		{merchant: m.outfit, handle: "wool-socks", name: "Wool Socks, 3 Pairs", brand: "Nörrland Wool Co", price: 3400, popularity: 12, dimensions: dims(sizes)},
		{merchant: m.outfit, handle: "waxed-jacket", name: "Waxed Field Jacket", brand: "Harbor & Hale", price: 28900, popularity: 4, dimensions: dims(sizes, colors)},
		{merchant: m.outfit, handle: "canvas-tote", name: "Canvas Tote", brand: "Outfitters", price: 4200, popularity: 6, dimensions: dims(colors)},
		{merchant: m.lumen, handle: "desk-lamp", name: "Brass Desk Lamp", brand: "Lumen & Oak", price: 18900, popularity: 7},
		{merchant: m.lumen, handle: "stoneware-mug", name: "Stoneware Mug", brand: "Kiln Street", price: 2800, popularity: 11, dimensions: dims(colors)},
		{merchant: m.lumen, handle: "linen-throw", name: "Linen Throw", brand: "Lumen & Oak", price: 9800, popularity: 5},
		{merchant: m.lumen, handle: "floor-mirror", name: "Arched Floor Mirror", brand: "Lumen & Oak", price: 42900, popularity: 2, heavy: true},
		{merchant: m.vinyl, handle: "lp-77", name: "Night Ferry, LP", brand: "Tin Can Records", price: 2999, popularity: 7},
		{merchant: m.vinyl, handle: "seven-inch-box", name: "Seven-Inch Box Set", brand: "Tin Can Records", price: 8900, popularity: 3},
		{merchant: m.vinyl, handle: "record-brush", name: "Carbon Record Brush", brand: "Groove Keep", price: 1895, popularity: 4},
		{merchant: m.trail, handle: "ridge-tent-2", name: "Ridge Tent, 2 Person", brand: "Trailhead", price: 44900, popularity: 3, heavy: true},
		{merchant: m.trail, handle: "trail-runner", name: "Scree Trail Runner", brand: "Fellgate", price: 14500, popularity: 8, dimensions: dims(shoe)},
		{merchant: m.trail, handle: "titanium-pot", name: "Titanium Pot, 750 ml", brand: "Trailhead", price: 6495, popularity: 5},
		{merchant: m.trail, handle: "down-quilt", name: "Down Quilt −6 °C", brand: "Fellgate", price: 37900, popularity: 2},
		{merchant: m.roast, handle: "morning-blend", name: "Morning Blend, 12 oz", brand: "North Roast", price: 1800, popularity: 15, dimensions: dims(grind)},
		{merchant: m.roast, handle: "decaf-huila", name: "Decaf Huila, 12 oz", brand: "North Roast", price: 1950, popularity: 6, dimensions: dims(grind)},
		{merchant: m.roast, handle: "gooseneck-kettle", name: "Gooseneck Kettle", brand: "Pour & Co", price: 7900, popularity: 5},
		{merchant: m.lounge, handle: "reading-chair", name: "Reading Chair, Walnut", brand: "Lounge", price: 129500, popularity: 2, heavy: true},
		{merchant: m.lounge, handle: "modular-sofa", name: "Modular Sofa, 3 Seats", brand: "Lounge", price: 249900, popularity: 1, heavy: true},
		{merchant: m.lounge, handle: "side-table", name: "Ash Side Table", brand: "Lounge", price: 22900, popularity: 3, heavy: true},
		{merchant: m.paper, handle: "dot-notebook", name: "Dotted Notebook A5", brand: "Paperie", price: 1650, popularity: 10},
		{merchant: m.paper, handle: "gel-pens", name: "Gel Pens, Set of 6", brand: "Inkwell", price: 1290, popularity: 8},
		{merchant: m.paper, handle: "thank-you-cards", name: "Thank-You Cards", brand: "Paperie", price: 450, popularity: 6},
		{merchant: m.pixel, handle: "mechanical-keyboard", name: "Mechanical Keyboard 75 %", brand: "Forge", price: 16900, popularity: 6},
		{merchant: m.pixel, handle: "usb-c-dock", name: "USB-C Dock, 11 Ports", brand: "Forge", price: 21900, popularity: 4},
		{merchant: m.pixel, handle: "photo-editor-license", name: "Photo Editor, 1 Year", brand: "Forge", price: 9900, popularity: 4, digital: true},
		{merchant: m.pixel, handle: "4k-monitor-27", name: "4K Monitor, 27 in", brand: "Forge", price: 52900, popularity: 3, heavy: true},
		{merchant: m.tiny, handle: "wooden-blocks", name: "Wooden Blocks, 60", brand: "Tiny Sprouts", price: 3900, popularity: 6},
		{merchant: m.tiny, handle: "baby-carrier", name: "Baby Carrier", brand: "Hush", price: 15900, popularity: 3, dimensions: dims(colors)},
		{merchant: m.wheel, handle: "commuter-bike", name: "Commuter Bike, 8 Speed", brand: "Wheelhouse", price: 119900, popularity: 1, heavy: true},
		{merchant: m.wheel, handle: "bike-lights", name: "Bike Lights, Pair", brand: "Beacon", price: 5900, popularity: 6},
		{merchant: m.glow, handle: "rose-hand-cream", name: "Rose Hand Cream", brand: "Glow", price: 2200, popularity: 8},
		{merchant: m.glow, handle: "cedar-candle", name: "Cedar Candle", brand: "Glow", price: 3600, popularity: 9},
		{merchant: m.glow, handle: "travel-set", name: "Travel Set, 5 Minis", brand: "Glow", price: 4800, popularity: 4},
		{merchant: m.big, handle: "B0FAKE1234", name: "Wireless Tag, 4 Pack", brand: "Acme", price: 8499, popularity: 7},
		{merchant: m.big, handle: "B0FAKE7788", name: "Air Fryer, 6 qt", brand: "Acme", price: 11999, popularity: 5, heavy: true},
		{merchant: m.paws, handle: "salmon-treats", name: "Salmon Treats, 8 oz", brand: "Paws & Co", price: 1399, popularity: 9},
		{merchant: m.paws, handle: "orthopedic-bed", name: "Orthopedic Dog Bed", brand: "Paws & Co", price: 13900, popularity: 3, dimensions: dims(sizes)},
	}
}

// merchants are those of the assortment.
type merchants struct{ spice, outfit, lumen, vinyl, trail, roast, lounge, paper, pixel, tiny, wheel, glow, big, paws *merchant }

func openMerchants() (m merchants) {
	newark, oakland, chicago, austin, portland := place{"Newark", "NJ", -5}, place{"Oakland", "CA", -8}, place{"Chicago", "IL", -6}, place{"Austin", "TX", -6}, place{"Portland", "OR", -8}
	m.spice = &merchant{"spice-lab.example", "Spice Lab", 599, 6000, "SL-%05d", oakland, []string{"ParcelNorth", "Meridian Post"}, "/products/"}
	m.outfit = &merchant{"outfitters.example", "Outfitters", 799, 10000, "OUT%07d", newark, []string{"ParcelNorth", "Bluefin Express"}, "/products/"}
	m.lumen = &merchant{"lumen.example", "Lumen & Oak", 1299, 15000, "#%05d", chicago, []string{"Bluefin Express"}, "/p/"}
	m.vinyl = &merchant{"vinyl-corner.example", "Vinyl Corner", 499, 0, "VC-%05d", chicago, []string{"Meridian Post"}, "/records/"}
	m.trail = &merchant{"trailhead.example", "Trailhead Supply", 899, 12000, "TH%08d", portland, []string{"ParcelNorth", "Roadway Freight"}, "/gear/"}
	m.roast = &merchant{"north-roast.example", "North Roast", 450, 4000, "#NR%05d", portland, []string{"Meridian Post"}, "/coffee/"}
	m.lounge = &merchant{"lounge.example", "Lounge", 9900, 0, "LG-%06d", newark, []string{"Roadway Freight"}, "/furniture/"}
	m.paper = &merchant{"paperie.example", "Paperie", 395, 3500, "P%06d", austin, []string{"Meridian Post"}, "/shop/"}
	m.pixel = &merchant{"pixel-forge.example", "Pixel Forge", 0, 0, "PF-%09d", oakland, []string{"Bluefin Express", "ParcelNorth"}, "/item/"}
	m.tiny = &merchant{"tiny-sprouts.example", "Tiny Sprouts", 695, 7500, "TS-%05d", austin, []string{"ParcelNorth"}, "/products/"}
	m.wheel = &merchant{"wheelhouse.example", "Wheelhouse Cycles", 1495, 20000, "WH%06d", portland, []string{"Roadway Freight", "Bluefin Express"}, "/bikes/"}
	m.glow = &merchant{"glow-apothecary.example", "Glow Apothecary", 550, 5000, "GA-%06d", newark, []string{"Meridian Post", "ParcelNorth"}, "/care/"}
	m.big = &merchant{"big-store.example", "Big Store", 599, 3500, "112-%07d", chicago, []string{"Bluefin Express"}, "/dp/"}
	m.paws = &merchant{"paws-and-co.example", "Paws & Co", 725, 4900, "PAW%06d", austin, []string{"ParcelNorth", "Bluefin Express"}, "/pets/"}
	return m
}
