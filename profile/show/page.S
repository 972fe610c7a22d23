/* SPDX-License-Identifier: MIT */
/* page.S - the page's style, page.css, as text that ends with a zero byte. */
	.section .rodata
	.globl page_css
page_css:
	.incbin "show/page.css"
	.byte 0
	.section .note.GNU-stack,"",@progbits
