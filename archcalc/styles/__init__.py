"""Forward functions of training libraries: what each records for a norm, a rotary embedding, a loss, its experts.

    style = replace(PLAIN, rms_norm=norms.upcast, loss=ends.fp32)        archcalc.core.style has all fields
    model.build(replace(work, style=style))

A library names its functions in presets/code, by the names in `archcalc.styles.ways`.
"""
