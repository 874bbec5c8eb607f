//! Spanish.

use super::Words;

pub(super) const SPANISH: Words = Words {
    code: "código*, codigo*, clave, token",
    one_time: "tu código, su código, clave dinámica, contraseña de un solo uso, contraseña temporal, código de \
        verificación, código de un solo uso, clave de un solo uso",
    other: "pedido*, número de pedido, factura*, referencia, código postal, código de seguimiento, código de \
        error, código qr, código de barras, código de reserva, seguimiento, número de cuenta, socio, teléfono*, \
        tel, línea de atención, importe*, monto*, total, reserva*, cliente, calle, nif, cif, nº, envío*, código \
        fuente, cita, reunión, terminada en, terminado en, termina en",
    promotion: "cupón*, descuento*, código promocional, código de descuento, promoción*, oferta*, regalo*, \
        canje*",
    verify: "verific*, confirm*, activ*, valid*, autentic*, autoriza*",
    sign_in: "iniciar sesión, inicia sesión, inicio de sesión, acceder, accede, acceso, entrar, ingresar, \
        ingresa a, enlace mágico",
    reset: "restablec*, recuper*, nueva contraseña, cambiar contraseña, cambia tu contraseña, olvidaste, \
        reestablec*",
    invite: "invita*, invitó, invitación*, te ha invitado, únete, unirte, aceptar invitación, unirse",
    unsubscribe: "darse de baja, date de baja, darme de baja, dar de baja, cancelar suscripción, cancelar la \
        suscripción, anular suscripción, baja, desuscrib*",
    caution: "caduca*, vence*, expira*, válido*, válida*, no lo compartas, no compartas, ignora*, minutos, \
        operación, un solo uso, seguridad",
    denial: "no solicitaste, no fuiste tú, no has sido tú, no reconoces, no fue usted",
    enter: "introduce*, ingresa*, escribe, digita, teclea",
    press: "aquí, haz clic, clic, pulsa, este enlace, siguiente enlace, el enlace, continuar, empezar, comenzar, \
        sí",
};
