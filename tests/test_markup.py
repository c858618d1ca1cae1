from ptenmt.markup import Markup, element


def test_texts_and_attributes_are_escaped_once() -> None:
    inner = element("b", '<script>alert("1 & 2")</script>')
    assert inner == "<b>&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;</b>"
    assert element("p", "a<b: ", inner, Markup("<br>")) == f"<p>a&lt;b: {inner}<br></p>"
    assert element("a", "x", title='"><img src=x>') == '<a title="&quot;&gt;&lt;img src=x&gt;">x</a>'


def test_attributes_are_named_as_python_cannot() -> None:
    drawn = element("rect", class_="bar", text_anchor="end", x=1 / 3, width=20.0, y=-7, rx=None)
    assert drawn == '<rect class="bar" text-anchor="end" x="0.33" width="20" y="-7"></rect>'
