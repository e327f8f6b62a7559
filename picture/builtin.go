package picture

import _ "embed"

//go:embed pictures/flower.jpg
var flower []byte

//go:embed pictures/china.jpg
var china []byte

// builtin are the pictures that come with the program. NOTICE has the credits too.
var builtin = []struct {
	name, credit string
	file         []byte
}{
	{"flower", "photograph by vultilion on Flickr, CC BY 2.0", flower},
	{"china", "photograph by danielbuechele on Flickr, CC BY 2.0", china},
}

// Flower returns the file of the built-in picture @flower: a JPEG of 640 x 427 pixels, a photograph of a flower by the
// Flickr user vultilion (https://www.flickr.com/photos/vultilion/6056698931/), licensed under CC BY 2.0
// (https://creativecommons.org/licenses/by/2.0/) and copied from scikit-learn, whose text credits danielbuechele.
func Flower() []byte { return append([]byte(nil), flower...) }

// China returns the file of the built-in picture @china: a JPEG of 640 x 427 pixels, a photograph of a temple by the
// Flickr user danielbuechele (https://www.flickr.com/photos/danielbuechele/6061409035/), licensed under CC BY 2.0
// (https://creativecommons.org/licenses/by/2.0/) and copied from scikit-learn.
func China() []byte { return append([]byte(nil), china...) }
