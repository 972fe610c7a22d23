/* SPDX-License-Identifier: MIT */
/* page.S - page.html and page.css as texts, each of which ends with a zero byte. */
	.section .rodata
	.globl page_html, page_css
page_html:
	.incbin "show/page.html"
	.byte 0
page_css:
	.incbin "show/page.css"
	.byte 0
	.section .note.GNU-stack,"",@progbits
