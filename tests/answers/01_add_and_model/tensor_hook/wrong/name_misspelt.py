# mistake: missing_name
def tensorhook(grad):
    answer.append(grad)
